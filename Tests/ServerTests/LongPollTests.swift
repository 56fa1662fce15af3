import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("A client waits for a challenge to end")
struct LongPollTests {
    /// Far less than a wait lasts, and more than a busy machine needs.
    private static let soon = Duration.seconds(25)

    private static func wait(_ scene: Scene, _ challenge: String, _ seconds: Int = 60) async throws -> JSONValue {
        try await scene.shop.call(.GET, "/v1/challenges/\(challenge)?wait=\(seconds)").success()
    }

    @Test("A challenge that has ended is told at once, however long the wait")
    func ended() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            _ = try await scene.phone.answer(asked.id, .denied).success()
            let start = ContinuousClock.now
            let told = try await Self.wait(scene, asked.id)
            #expect(told["state"] == "denied")
            #expect(told == (try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)").success()))
            #expect(start.duration(to: .now) < Self.soon)
        }
    }

    @Test("Without wait, or with 0, an open challenge is told at once", arguments: ["", "?wait=0"])
    func noWait(_ query: String) async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let start = ContinuousClock.now
            let told = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)\(query)").success()
            #expect(told["state"] == "pending")
            #expect(start.duration(to: .now) < Self.soon)
        }
    }

    @Test("When the time is up, the challenge is told as it stands, and not before")
    func timeIsUp() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            // The end of another challenge notifies nobody here.
            let other = try await scene.ask()
            let start = ContinuousClock.now
            async let told = Self.wait(scene, asked.id, 1)
            _ = try await scene.shop.call(.DELETE, "/v1/challenges/\(other.id)").success()
            #expect(try await told["state"] == "pending")
            #expect(start.duration(to: .now) >= .milliseconds(900))
        }
    }

    @Test("Each end notifies whoever waits, twenty of them at once", arguments: ChallengeEnd.allCases)
    func notifies(_ end: ChallengeEnd) async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            try await withThrowingTaskGroup(of: JSONValue.self) { group in
                for _ in 0..<20 { group.addTask { try await Self.wait(scene, asked.id) } }
                try await letItWait()
                let start = ContinuousClock.now
                let (state, reason) = try await end.bring(asked, scene)
                var count = 0
                for try await told in group {
                    count += 1
                    #expect(told["state"] == .string(state))
                    #expect(told["reason"]?.string == reason)
                    #expect(told["ended_at"] != nil)
                }
                #expect(count == 20)
                #expect(start.duration(to: .now) < Self.soon)
            }
        }
    }

    @Test("Who hangs up while waiting disturbs nobody, and its places are free at once")
    func hangingUp() async throws {
        try await Scene.with { scene in
            let path = "/v1/enrollments/self/challenges?wait="
            // Eight may wait: when four of twelve were refused, the others do.
            let (refusals, tell) = AsyncStream.makeStream(of: Reply.self)
            let abandoned = (0..<12).map { _ in Task { tell.yield(try await scene.phone.send(.GET, path + "60")) } }
            var refused = 0
            for await reply in refusals {
                expectRefusal(reply, 429, "too_many_waits")
                refused += 1
                if refused == 4 { break }
            }
            let start = ContinuousClock.now
            for task in abandoned { task.cancel() }
            for task in abandoned { _ = await task.result }
            var reply = try await scene.phone.send(.GET, path + "1")
            while reply.code == "too_many_waits", start.duration(to: .now) < Self.soon {
                reply = try await scene.phone.send(.GET, path + "1")
            }
            // Nobody moved the clock: without the hanging up the places would be taken for a minute.
            #expect(reply.status == 200, "\(reply)")
            let asked = try await scene.ask()
            #expect(try await scene.approve(asked).json["state"] == "approved")
        }
    }

    @Test("After a wait the connection is used again, and so is the wait on it")
    func keepAlive() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            for _ in 0..<3 { #expect(try await Self.wait(scene, asked.id, 1)["state"] == "pending") }
            async let told = Self.wait(scene, asked.id)
            try await letItWait()
            _ = try await scene.phone.answer(asked.id, .denied).success()
            #expect(try await told["state"] == "denied")
        }
    }
}
