import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Pending challenges, sealed to the device that polls")
struct DevicePendingTests {
    private static let path = "/v1/enrollments/self/challenges"

    /// The list, and its cursor.
    private static func list(
        _ scene: DeviceScene, phone: TestPhone? = nil, _ query: String = ""
    ) async throws -> (ids: [String], cursor: String, entries: [PendingEntry]) {
        let phone = phone ?? scene.phone
        let reply = try await phone.send(.GET, path + query).success()
        let entries = try #require(reply["challenges"]?.array).map { try PendingEntry($0, at: "") }
        return (entries.map { "\($0.challenge)" }, try #require(reply["cursor"]?.string), entries)
    }

    @Test("What is pending comes newest first, the first three whole, and tells nothing in clear")
    func newestFirst() async throws {
        try await DeviceScene.with { scene in
            #expect(try await Self.list(scene).ids.isEmpty)
            let asked = [
                try await scene.ask(), try await scene.ask(), try await scene.ask(), try await scene.ask(),
            ]
            let (ids, _, entries) = try await Self.list(scene)
            #expect(ids == asked.map(\.id).reversed())
            #expect(entries.map { $0.message != nil } == [true, true, true, false])
            for entry in entries {
                let body = try await scene.phone.open("\(entry.challenge)")
                #expect(body.expiresAt == entry.expiresAt)
                guard let message = entry.message else { continue }
                #expect(try await scene.phone.unseal(message) == body)
            }
            let reply = try await scene.phone.send(.GET, Self.path)
            for challenge in asked {
                #expect(!String(decoding: reply.body, as: UTF8.self).contains(challenge.number.digits))
            }
            // Three letters may stand in base64 by chance, so what is sealed is left out.
            var list = try #require(reply.json.object)
            list["challenges"] = .array(
                try #require(list["challenges"]?.array).map { entry in
                    var entry = entry.object ?? [:]
                    entry["message"] = nil
                    return .object(entry)
                })
            let written = JSONValue.object(list).text
            for word in ["ACME", "EUR", "espresso", "DE89", "payment"] { #expect(!written.contains(word)) }
        }
    }

    @Test("What would make the list larger than 64 KiB must be fetched")
    func large() async throws {
        try await DeviceScene.with { scene in
            let large: JSONObject = [
                "type": "payment", "message": "Pay?",
                "secure_message": .string(String(repeating: "x", count: 16_000)),
            ]
            for _ in 0..<3 { _ = try await scene.ask(large) }
            let reply = try await scene.phone.send(.GET, Self.path)
            let held = try reply.success()["challenges"]?.array?.map { $0["message"] != nil }
            #expect(held == [true, true, false])
            #expect(reply.body.count < 66_000)
        }
    }

    @Test("A challenge that came by a poll is answered without a fetch; the fetch is recorded with the answer")
    func answered() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let message = try #require(try await Self.list(scene).entries.first?.message)
            #expect(try await scene.events("challenge.fetched").isEmpty, "a poll records nothing")
            let deliveries = try await scene.shop.call(.GET, asked.path).success()["deliveries"]
            #expect(deliveries?[0]?["fetched_at"] == nil)
            let body = try await scene.phone.unseal(message)
            let receipt = scene.phone.receipt(
                of: body.question, .approved(.confirm, number: asked.number))
            let sealed = try await scene.phone.seal(receipt.text)
            #expect(try await scene.phone.answer(asked.id, message: sealed).success()["state"] == "approved")
            let fetched = try await scene.events("challenge.fetched")
            let ended = try await scene.events("challenge.approved")
            #expect(fetched.count == 1 && fetched.first?["at"] == ended.first?["at"])
            #expect(fetched.first?["enrollment"] == .string("\(scene.phone.enrollment)"))
            // A fetch, or the same answer again, records no second one.
            _ = try await scene.phone.answer(asked.id, message: sealed).success()
            _ = try await scene.phone.send(.GET, "\(asked.path)/message")
            #expect(try await scene.events("challenge.fetched").count == 1)
        }
    }

    @Test("The same bytes come again, by a poll as by a fetch")
    func sealedOnce() async throws {
        try await DeviceScene.with { scene in
            _ = try await scene.ask()
            let first = try await Self.list(scene).entries.first?.message
            #expect(try await Self.list(scene).entries.first?.message == first && first != nil)
            let asked = try #require(try await Self.list(scene).ids.first)
            let fetched = try await scene.phone.send(.GET, "/v1/challenges/\(asked)/message").success()["message"]
            #expect(fetched?.string.flatMap { Base64.decode($0) } == first)
        }
    }

    @Test("Sealed anew after a wrong PIN, since what is sealed says how many are left; then the same bytes come again")
    func sealedAnew() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.askForPIN()
            let first = try #require(try await Self.list(scene).entries.first?.message)
            let before = try await scene.phone.unseal(first)
            let receipt = scene.phone.receipt(of: before.question, .approved(.pin, number: asked.number))
            let wrong = try await scene.phone.seal(receipt.text, signedBy: scene.phone.newPINKey())
            let refused = try await scene.phone.answer(asked.id, message: wrong)
            #expect(refused.refusal == Refusal(422, "pin_incorrect"), "\(refused)")
            let second = try #require(try await Self.list(scene).entries.first?.message)
            let after = try await scene.phone.unseal(second)
            #expect(second != first)
            #expect(before.attemptsLeft == 5 && after.attemptsLeft == 4)
            #expect(after.question == before.question)
            #expect(try await Self.list(scene).entries.first?.message == second)
        }
    }

    @Test("What has ended is no longer in the list")
    func ended() async throws {
        try await DeviceScene.with { scene in
            let asked = [try await scene.ask(), try await scene.ask(), try await scene.ask(["expires_in": 30])]
            _ = try await scene.shop.call(.DELETE, asked[0].path).success()
            #expect(try await Self.list(scene).ids == [asked[2].id, asked[1].id])
            _ = try await scene.phone.answer(asked[1].id, .denied).success()
            #expect(try await Self.list(scene).ids == [asked[2].id])
            scene.server.clock.advance(seconds: 30)
            #expect(try await Self.list(scene).ids.isEmpty)
        }
    }

    @Test("Each device sees what was put to it alone")
    func ownOnly() async throws {
        try await DeviceScene.with { scene in
            let second = try await scene.anotherPhone()
            let stranger = try await scene.strangersPhone()
            let one = try await scene.ask(["enrollments": [.string("\(second.enrollment)")]])
            #expect(try await Self.list(scene).ids.isEmpty)
            #expect(try await Self.list(scene, phone: second).ids == [one.id])
            #expect(try await Self.list(scene, phone: stranger).ids.isEmpty)
            let fetched = try await scene.phone.send(.GET, "\(one.path)/message")
            #expect(fetched.refusal == Refusal(404, "challenge_not_found"))
        }
    }

    @Test("A wait ends at once when something is asked")
    func notifies() async throws {
        try await DeviceScene.with { scene in
            async let waiting = Self.list(scene, "?wait=60")
            let start = ContinuousClock.now
            let asked = try await scene.ask()
            #expect(try await waiting.ids == [asked.id])
            #expect(start.duration(to: .now) < .seconds(20))
        }
    }

    @Test("A wait with the cursor of the list ends when the list changes, also by an end")
    func cursor() async throws {
        try await DeviceScene.with { scene in
            let first = try await scene.ask()
            let (ids, cursor, _) = try await Self.list(scene)
            #expect(ids == [first.id])
            // A cursor of another list, or none for a list that is not empty, answers without waiting.
            #expect(try await Self.list(scene, "?wait=60").ids == [first.id])
            #expect(try await Self.list(scene, "?wait=60&cursor=other").ids == [first.id])
            async let waiting = Self.list(scene, "?wait=60&cursor=\(cursor)")
            _ = try await scene.shop.call(.DELETE, first.path).success()
            let (after, next, _) = try await waiting
            #expect(after.isEmpty)
            #expect(next != cursor)
        }
    }

    @Test("A wait ends with its time, and the list is the same")
    func timeIsUp() async throws {
        try await DeviceScene.with { scene in
            let first = try await scene.ask(["expires_in": 100])
            let (_, cursor, _) = try await Self.list(scene)
            let start = ContinuousClock.now
            let (ids, next, _) = try await Self.list(scene, "?wait=1&cursor=\(cursor)")
            #expect(start.duration(to: .now) >= .milliseconds(900))
            #expect(ids == [first.id] && next == cursor)
        }
    }

    @Test("A wait ends when what is pending expires")
    func expiryEndsWait() async throws {
        try await DeviceScene.with { scene in
            _ = try await scene.ask(["expires_in": 30])
            let (_, cursor, _) = try await Self.list(scene)
            async let waiting = Self.list(scene, "?wait=60&cursor=\(cursor)")
            scene.server.clock.advance(seconds: 31)
            #expect(try await waiting.ids.isEmpty)
        }
    }

    @Test(
        "A query that means nothing is refused",
        arguments: [
            "?wait=61", "?wait=-1", "?wait=x", "?wait=1.5", "?wait=", "?waits=1", "?wait=1&wait=2", "?cursor=%FF",
        ])
    func queries(_ query: String) async throws {
        try await DeviceScene.with { scene in
            let reply = try await scene.phone.send(.GET, Self.path + query)
            #expect(reply.refusal == Refusal(400, "invalid_parameter"), "\(reply)")
        }
    }

    @Test("Eight requests of a device may wait; more are refused")
    func tooManyWaits() async throws {
        try await DeviceScene.with { scene in
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<12 {
                    group.addTask { try await scene.phone.send(.GET, "\(Self.path)?wait=60") }
                }
                var replies: [Reply] = []
                // Four come back at once; with the fourth, the other eight are known to wait.
                while replies.count < 4, let reply = try await group.next() { replies.append(reply) }
                #expect(replies.allSatisfy { $0.refusal == Refusal(429, "too_many_waits") })
                #expect(replies.allSatisfy { $0.headers["retry-after"] == "5" })
                // Another device waits on its own account.
                let other = try await scene.anotherPhone()
                #expect(try await other.send(.GET, "\(Self.path)?wait=1").status == 200)
                _ = try await scene.ask()
                while let reply = try await group.next() { replies.append(reply) }
                return replies
            }
            #expect(replies.count { $0.status == 200 } == 8)
            // The waits are over, so there is room again.
            #expect(try await scene.phone.send(.GET, "\(Self.path)?wait=60").status == 200)
        }
    }
}
