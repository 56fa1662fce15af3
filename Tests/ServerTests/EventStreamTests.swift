import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("A challenge as server-sent events")
struct EventStreamTests {
    private static func path(_ challenge: String) -> String { "/v1/challenges/\(challenge)/events" }

    @Test("HTML §9.2: the stream begins with the current state, tells the end under its id, and is over")
    func untilTheEnd() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            try await scene.shop.stream(Self.path(asked.id)) { stream in
                #expect(stream.headers["content-type"] == "text/event-stream")
                #expect(stream.headers["cache-control"] == "no-store")
                #expect(stream.headers["x-request-id"] != nil)
                var events = stream.makeAsyncIterator()
                let first = try #require(try await events.next())
                #expect(first.id == "pending")
                #expect(first.name == "challenge")
                #expect(first.data == (try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)").json))
                _ = try await scene.approve(asked).success()
                let last = try #require(try await events.next())
                #expect(last.id == "approved")
                #expect(last.name == "challenge")
                #expect(last.data == (try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)").json))
                #expect(try await events.next() == nil)
            }
        }
    }

    @Test(
        "A challenge that has ended is told once, also to who comes back with the last id", arguments: [nil, "pending"])
    func ended(_ lastID: String?) async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            _ = try await scene.phone.answer(asked.id, .reported).success()
            let headers = lastID.map { [("Last-Event-ID", $0)] } ?? []
            let reply = try await scene.shop.call(.GET, Self.path(asked.id), headers: headers)
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(reply.status == 200)
            #expect(text.hasPrefix("id: denied\nevent: challenge\ndata: {"))
            #expect(text.hasSuffix("}\n\n"))
            #expect(text.split(separator: "\n\n").count == 1)
        }
    }

    @Test("Twenty watchers are told the same end")
    func severalWatchers() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let ids = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await scene.shop.stream(Self.path(asked.id)) { stream in
                            var ids: [String] = []
                            for try await event in stream where event.name != nil { ids.append(event.id ?? "") }
                            return ids
                        }
                    }
                }
                try await letItWait()
                _ = try await scene.shop.call(.DELETE, "/v1/challenges/\(asked.id)").success()
                return try await group.reduce(into: [[String]]()) { $0.append($1) }
            }
            #expect(ids.count == 20)
            // Who came after the end is told it alone.
            #expect(ids.allSatisfy { $0 == ["pending", "cancelled"] || $0 == ["cancelled"] })
        }
    }

    @Test("A comment every 15 seconds shows that the stream is alive, and after 10 minutes it is over")
    func lifetime() async throws {
        try await Scene.with(type: ["expires_in": 3600]) { scene in
            let asked = try await scene.ask()
            try await scene.shop.stream(Self.path(asked.id)) { stream in
                var events = stream.makeAsyncIterator()
                #expect(try await events.next()?.id == "pending")
                for _ in 0..<3 {
                    scene.server.clock.advance(seconds: 16)
                    let alive = try #require(try await events.next())
                    #expect(alive.name == nil && alive.id == nil && alive.data == nil)
                }
                scene.server.clock.advance(seconds: 600)
                var rest: [ServerEvent] = []
                while let event = try await events.next() { rest.append(event) }
                #expect(rest.allSatisfy { $0.name == nil })
            }
            #expect(try await scene.state(of: asked.id) == "pending")
        }
    }

    @Test("An expiry is told when it comes")
    func expiry() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            try await scene.shop.stream(Self.path(asked.id)) { stream in
                var ids: [String] = []
                for try await event in stream where event.name != nil {
                    ids.append(event.id ?? "")
                    if ids == ["pending"] { scene.server.clock.advance(seconds: 121) }
                }
                #expect(ids == ["pending", "expired"])
            }
        }
    }

    @Test(
        "Unlinking the user, by the client or by an operator, is told as a long poll tells it, and ends the stream",
        arguments: [false, true])
    func unlinked(_ byOperator: Bool) async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            try await scene.shop.stream(Self.path(asked.id)) { stream in
                var events = stream.makeAsyncIterator()
                #expect(try await events.next()?.id == "pending")
                async let poll = scene.shop.call(.GET, "/v1/challenges/\(asked.id)?wait=60")
                try await letItWait()
                let caller = byOperator ? scene.administrator : scene.shop
                let users = byOperator ? "/v1/admin/users" : "/v1/users"
                _ = try await caller.call(.DELETE, "\(users)/\(scene.user)").success()
                let last = try #require(try await events.next())
                #expect(last.id == "cancelled")
                #expect(last.name == "challenge")
                #expect(last.data?["state"] == "cancelled")
                let polled = try await poll.success()
                #expect(last.data == polled)
                #expect(try await events.next() == nil)
            }
            // The outcome stays, for whoever asks by either way afterwards.
            #expect(try await scene.state(of: asked.id) == "cancelled")
            let reply = try await scene.shop.call(.GET, Self.path(asked.id))
            #expect(String(decoding: reply.body, as: UTF8.self).hasPrefix("id: cancelled\nevent: challenge\n"))
        }
    }

    @Test("The number to type is in no event")
    func noNumber() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            _ = try await scene.approve(asked).success()
            let reply = try await scene.shop.call(.GET, Self.path(asked.id))
            let data = try #require(
                String(decoding: reply.body, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("data: ") })
            let told = try JSONValue(parsing: Array(data.dropFirst(6).utf8))
            #expect(told["number"] == nil)
            #expect(told["state"] == "approved")
        }
    }

    @Test("An unknown challenge, a caller nobody knows and one without the right get no stream")
    func refused() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let without = try await scene.server.makeClient("Without", ["rights": ["users"]])
            expectRefusal(
                try await scene.shop.call(.GET, Self.path("chl_01m7yfdvpt5prmr79m8dcgymep")), 404,
                "challenge_not_found")
            expectRefusal(try await scene.server.send(.GET, Self.path(asked.id)), 401, "unauthorized")
            expectRefusal(try await without.call(.GET, Self.path(asked.id)), 403, "right_missing")
        }
    }
}
