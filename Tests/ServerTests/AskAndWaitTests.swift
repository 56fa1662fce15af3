import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Ask and wait: POST /v1/challenges as an event stream", .timeLimit(.minutes(15)))
struct AskAndWaitTests {
    private static let path = "/v1/challenges"
    private static let stream = ("Accept", "text/event-stream")

    private static func body(_ scene: DeviceScene, _ type: String = "payment") -> JSONValue {
        ["user": .string(scene.user), "type": .string(type), "message": "Pay EUR 1,250.00 to ACME GmbH?"]
    }

    private static func answer(_ asked: JSONValue?, in scene: DeviceScene) async throws {
        let id = try #require(asked?["id"]?.string)
        let number = try #require(asked?["number"]?.string.flatMap { EntryNumber($0) })
        let message = try await scene.approval(of: DeviceScene.Asked(id: id, number: number))
        _ = try await scene.phone.answer(id, message: message).success()
    }

    @Test("One request asks, shows the number, and tells the end with its receipt")
    func whole() async throws {
        try await DeviceScene.with { scene in
            let ended = try await scene.shop.stream(Self.path, posting: Self.body(scene), key: "one") { stream in
                #expect(stream.headers["content-type"] == "text/event-stream")
                #expect(stream.headers["cache-control"] == "no-store" && stream.headers["idempotency-replayed"] == nil)
                var events = stream.makeAsyncIterator()
                let asked = try #require(try await events.next())
                #expect(asked.name == "asked" && asked.data?["state"] == "pending" && asked.data?["receipt"] == nil)
                try await Self.answer(asked.data, in: scene)
                let ended = try #require(try await events.next())
                #expect(ended.name == "ended" && ended.data?["state"] == "approved")
                #expect(try await events.next() == nil)
                return try #require(ended.data)
            }
            let id = try #require(ended["id"]?.string)
            let receipt = try await scene.shop.call(.GET, "\(Self.path)/\(id)/receipt")
            #expect(ended["receipt"] == .string(String(decoding: receipt.body, as: UTF8.self)))
            // Whoever polls is told the same.
            #expect(try await scene.shop.call(.GET, "\(Self.path)/\(id)").success() == ended)
            #expect(try await scene.shop.call(.GET, "\(Self.path)/\(id)?wait=1").success() == ended)
        }
    }

    @Test("Who hangs up and comes again with the key waits on for the same challenge, whichever form asked first")
    func again() async throws {
        try await DeviceScene.with { scene in
            let body = Self.body(scene)
            let first = try await scene.shop.stream(Self.path, posting: body, key: "one") { stream in
                var events = stream.makeAsyncIterator()
                return try #require(try await events.next()?.data)
            }
            let plain = try await scene.shop.call(.POST, Self.path, body, headers: [("Idempotency-Key", "one")])
            #expect(try plain.success() == first && plain.headers["idempotency-replayed"] == "true")
            #expect(
                try await scene.status(
                    of: DeviceScene.Asked(
                        id: first["id"]?.string ?? "", number: EntryNumber(value: 0))
                ).state == "pending")
            try await scene.shop.stream(Self.path, posting: body, key: "one") { stream in
                #expect(stream.headers["idempotency-replayed"] == "true")
                var events = stream.makeAsyncIterator()
                #expect(try await events.next()?.data == first)
                try await Self.answer(first, in: scene)
                #expect(try await events.next()?.data?["state"] == "approved")
            }
            // After the end, too, and where plain JSON asked first.
            try await scene.shop.stream(Self.path, posting: body, key: "one") { stream in
                var names: [String?] = []
                for try await event in stream { names.append(event.name) }
                #expect(names == ["asked", "ended"])
            }
            let other = try await scene.shop.call(.POST, Self.path, body, headers: [("Idempotency-Key", "two")])
            let id = try #require(try other.success()["id"]?.string)
            _ = try await scene.shop.call(.DELETE, "\(Self.path)/\(id)").success()
            try await scene.shop.stream(Self.path, posting: body, key: "two") { stream in
                var events: [ServerEvent] = []
                for try await event in stream { events.append(event) }
                #expect(events.map(\.name) == ["asked", "ended"])
                #expect(events.last?.data?["state"] == "cancelled" && events.last?.data?["receipt"] == nil)
            }
            #expect(try await scene.events("challenge.asked").count == 2)
        }
    }

    @Test("Without a key nobody is asked; refusals are problems, before any stream")
    func refusals() async throws {
        try await DeviceScene.with { scene in
            let body = Self.body(scene)
            let without = try await scene.shop.call(.POST, Self.path, body, headers: [Self.stream])
            expectRefusal(without, 400, "invalid_idempotency_key")
            func post(_ body: JSONValue, _ key: String) async throws -> Reply {
                try await scene.shop.call(.POST, Self.path, body, headers: [Self.stream, ("Idempotency-Key", key)])
            }
            expectRefusal(try await post(Self.body(scene, "unheard"), "one"), 404, "type_not_found")
            _ = try await scene.shop.call(.POST, Self.path, body, headers: [("Idempotency-Key", "two")]).success()
            expectRefusal(try await post(Self.body(scene, "confirm"), "two"), 422, "idempotency_conflict")
            #expect(try await scene.events("challenge.asked").count == 1)
        }
    }

    @Test(
        "Only who prefers the stream to JSON gets it; ranges name neither, and an equal weight is JSON's",
        arguments: [
            "*/*", "text/*", "application/json", "text/event-stream;q=0", "text/event-streams",
            "application/json, text/event-stream", "text/event-stream;q=0.5, application/json;q=0.6",
            "text/event-stream;q=x",
        ])
    func plain(_ accept: String) async throws {
        try await DeviceScene.with { scene in
            let reply = try await scene.shop.call(.POST, Self.path, Self.body(scene), headers: [("Accept", accept)])
            #expect(try reply.success()["number"]?.string != nil)
            #expect(reply.headers["content-type"]?.hasPrefix("application/json") == true)
        }
    }

    @Test("Another client's same key asks anew; a client that is disabled is told no more")
    func clients() async throws {
        try await DeviceScene.with { scene in
            let other = try await scene.server.makeClient("Elsewhere")
            let body: JSONValue = ["type": "qr", "message": "Sign in?"]
            let ids = try await scene.shop.stream(Self.path, posting: body, key: "one") { mine in
                var mine = mine.makeAsyncIterator()
                let asked = try #require(try await mine.next()?.data?["id"]?.string)
                let theirs = try await other.stream(Self.path, posting: body, key: "one") { stream in
                    var events = stream.makeAsyncIterator()
                    return try #require(try await events.next()?.data?["id"]?.string)
                }
                _ = try await scene.server.administrator.call(
                    .POST, "/v1/admin/clients/\(scene.shop.clientID)/disable"
                ).success()
                while let event = try await mine.next() { #expect(event.name == nil, "\(event)") }
                return [asked, theirs]
            }
            #expect(Set(ids).count == 2)
        }
    }

    @Test("Unlinking the user cancels the challenge, which the stream tells as its end")
    func unlinked() async throws {
        try await DeviceScene.with { scene in
            try await scene.shop.stream(Self.path, posting: Self.body(scene), key: "one") { stream in
                var events = stream.makeAsyncIterator()
                let asked = try #require(try await events.next()?.data)
                try await letItWait()
                _ = try await scene.shop.call(.DELETE, "/v1/users/\(scene.user)").success()
                let last = try #require(try await events.next())
                #expect(last.name == "ended" && last.data?["state"] == "cancelled" && last.data?["receipt"] == nil)
                #expect(last.data?["id"] == asked["id"])
                #expect(try await events.next() == nil)
            }
        }
    }

    @Test("After ten minutes the stream is over, and the same request waits on")
    func lifetime() async throws {
        try await DeviceScene.with { scene in
            let long: JSONValue = ["expires_in": 3600, "number_entry": false]
            _ = try await scene.server.administrator.call(.PUT, "/v1/admin/types/long", long).success()
            let body = Self.body(scene, "long")
            let first = try await scene.shop.stream(Self.path, posting: body, key: "one") { stream in
                var events = stream.makeAsyncIterator()
                let asked = try #require(try await events.next()?.data)
                scene.server.clock.advance(seconds: 601)
                while let event = try await events.next() { #expect(event.name == nil, "\(event)") }
                return asked
            }
            try await scene.shop.stream(Self.path, posting: body, key: "one") { stream in
                var events = stream.makeAsyncIterator()
                #expect(try await events.next()?.data == first)
                let id = try #require(first["id"]?.string)
                _ = try await scene.shop.call(.DELETE, "\(Self.path)/\(id)").success()
                #expect(try await events.next()?.data?["state"] == "cancelled")
            }
        }
    }

    @Test("A code that is scanned is no news here; heartbeats show that the stream is alive, and an expiry ends it")
    func heartbeats() async throws {
        try await DeviceScene.with { scene in
            let body: JSONValue = ["type": "qr", "message": "Sign in to ACME?"]
            try await scene.shop.stream(Self.path, posting: body, key: "one") { stream in
                var events = stream.makeAsyncIterator()
                let asked = try #require(try await events.next()?.data)
                let code = try #require(asked["code"]?["qr"]?.string.flatMap { ChallengeCode($0) })
                #expect(try await scene.phone.send(.POST, "/v1/challenges/claim", code.claim).status == 204)
                #expect(try await events.next()?.name == nil)
                scene.server.clock.advance(seconds: 16)
                #expect(try await events.next()?.name == nil)
                scene.server.clock.advance(seconds: 600)
                var last: ServerEvent?
                while let event = try await events.next() { last = event }
                #expect(last?.name == "ended" && last?.data?["state"] == "expired" && last?.data?["receipt"] == nil)
            }
        }
    }
}
