import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("NIST SP 800-63B-4 §3.1.3.2, OWASP ASVS 6.6.4: how often a user is asked")
struct AskLimitTests {
    private static func tryToAsk(_ scene: Scene) async throws -> Reply {
        try await scene.shop.call(
            .POST, "/v1/challenges", ["user": .string(scene.user), "type": "payment", "message": "Pay?"])
    }

    @Test("No more challenges are open for a user than the type says, and each end makes room for one")
    func open() async throws {
        try await Scene.with(type: ["max_pending": 2, "max_asks": 1000]) { scene in
            let first = try await scene.ask()
            _ = try await scene.ask()
            let before = try await scene.snapshot()
            for _ in 0..<3 { expectRefusal(try await Self.tryToAsk(scene), 429, "too_many_pending") }
            #expect(try await scene.snapshot() == before)
            // One room for each: another client of the same type has its own, and so has another user.
            let rival = try await scene.server.makeClient("Rival")
            let rivals = try await rival.makeUser()
            _ = try await TestPhone.enrolled(for: rivals, by: rival, at: scene.server)
            #expect(try await rival.ask(rivals)["state"] == "pending")
            _ = try await scene.phone.answer(first.id, .denied).success()
            #expect(try await Self.tryToAsk(scene).status == 201)
            expectRefusal(try await Self.tryToAsk(scene), 429, "too_many_pending")
            // What expires makes room too, before anybody swept it.
            scene.server.clock.advance(seconds: 120)
            #expect(try await Self.tryToAsk(scene).status == 201)
        }
    }

    @Test("Of twenty asks at once, as many are asked as there is room for")
    func atOnce() async throws {
        try await Scene.with(type: ["max_pending": 3, "max_asks": 1000]) { scene in
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<20 { group.addTask { try await Self.tryToAsk(scene) } }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            #expect(replies.count { $0.status == 201 } == 3)
            #expect(replies.count { $0.code == "too_many_pending" } == 17)
            #expect(try await scene.snapshot().pending.count == 3)
        }
    }

    @Test("A user who does not approve is asked so often within an hour, then the client is told to wait, and how long")
    func unapproved() async throws {
        try await Scene.with(type: ["max_pending": 1000, "max_asks": 3, "denial_pause": 0]) { scene in
            for _ in 0..<3 { _ = try await scene.phone.answer(try await scene.ask().id, .denied).success() }
            scene.server.clock.advance(seconds: 1000)
            let before = try await scene.snapshot()
            let refused = try await Self.tryToAsk(scene)
            expectRefusal(refused, 429, "too_many_asks")
            #expect(try await scene.snapshot() == before)
            let seconds = try #require(refused.json["retry_after"]?.integer)
            #expect((2500...2600).contains(seconds))
            #expect(refused.headers["retry-after"] == "\(seconds)")
            // The promise holds: just before it is too early, then it is not.
            scene.server.clock.advance(seconds: seconds - 60)
            expectRefusal(try await Self.tryToAsk(scene), 429, "too_many_asks")
            scene.server.clock.advance(seconds: 61)
            #expect(try await Self.tryToAsk(scene).status == 201)
        }
    }

    @Test("A user who said no twice is left alone for a while, longer after each further no")
    func denials() async throws {
        try await Scene.with(type: ["max_pending": 1000, "max_asks": 1000, "denial_pause": 40]) { scene in
            for _ in 0..<2 { _ = try await scene.phone.answer(try await scene.ask().id, .denied).success() }
            let refused = try await Self.tryToAsk(scene)
            expectRefusal(refused, 429, "too_many_asks")
            #expect((39...40).contains(try #require(refused.json["retry_after"]?.integer)))
            scene.server.clock.advance(seconds: 41)
            _ = try await scene.phone.answer(try await scene.ask().id, .denied).success()
            scene.server.clock.advance(seconds: 41)
            let longer = try await Self.tryToAsk(scene)
            expectRefusal(longer, 429, "too_many_asks")
            #expect((38...39).contains(try #require(longer.json["retry_after"]?.integer)))
            scene.server.clock.advance(seconds: 40)
            #expect(try await Self.tryToAsk(scene).status == 201)
        }
    }

    @Test("An approval lets the count begin anew; denials, wrong numbers, cancellations and expiries count")
    func approval() async throws {
        try await Scene.with(type: ["max_pending": 1000, "max_asks": 4, "denial_pause": 0]) { scene in
            _ = try await scene.phone.answer(try await scene.ask().id, .denied).success()
            _ = try await scene.ask()
            #expect(try await scene.approve(try await scene.ask()).json["state"] == "approved")
            for end in [ChallengeEnd.denied, .wrongNumber, .cancelled, .expired] {
                _ = try await end.bring(try await scene.ask(), scene)
            }
            expectRefusal(try await Self.tryToAsk(scene), 429, "too_many_asks")
        }
    }
}
