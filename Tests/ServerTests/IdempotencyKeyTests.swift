import Crypto
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("A request with an idempotency key is done once")
struct IdempotencyKeyTests {
    /// A call that makes something, and the same call with another body.
    private struct Call: Sendable {
        let caller: Caller
        let path: String
        let body: JSONValue
        let other: JSONValue

        func send(
            _ key: String, _ body: JSONValue? = nil, by caller: Caller? = nil
        ) async throws -> Reply {
            try await (caller ?? self.caller).call(
                .POST, path, body ?? self.body, headers: [("Idempotency-Key", key)])
        }
    }

    /// Every route that takes a key, by the contract.
    private static func calls(_ scene: Scene) throws -> [Call] {
        let ask: JSONValue = ["user": .string(scene.user), "type": "payment", "message": "Pay?"]
        let otherAsk: JSONValue = ["user": .string(scene.user), "type": "payment", "message": "Pay more?"]
        let calls = [
            Call(caller: scene.shop, path: "/v1/challenges", body: ask, other: otherAsk),
            Call(caller: scene.shop, path: "/v1/users", body: ["external_id": "a"], other: ["external_id": "b"]),
            Call(
                caller: scene.shop, path: "/v1/users/\(scene.user)/enrollment-tickets", body: [:],
                other: .object(JSONObject())),
            Call(
                caller: scene.administrator, path: "/v1/admin/clients", body: ["name": "Shop A"],
                other: ["name": "Shop B"]),
            Call(
                caller: scene.administrator, path: "/v1/admin/messages", body: ["email": "a@example.com"],
                other: ["email": "b@example.com"]),
            Call(
                caller: scene.administrator, path: "/v1/admin/clients/\(scene.shop.clientID)/callback-secret",
                body: ["overlap": 60], other: ["overlap": 61]),
            Call(
                caller: scene.administrator, path: "/v1/clients/\(scene.shop.clientID)/secret",
                body: ["overlap": 60], other: ["overlap": 61]),
        ]
        let documented = Contract.served.operations.filter {
            $0.parameterNames(in: "header").contains("Idempotency-Key")
        }
        try #require(documented.count == calls.count)
        return calls
    }

    @Test("A repeat gets the first status and body, is told to be one, and does nothing")
    func repeated() async throws {
        try await Scene.with { scene in
            for call in try Self.calls(scene) {
                let first = try await call.send("key-1")
                #expect(first.status == 201 || first.status == 202, "\(first)")
                #expect(first.headers["idempotency-replayed"] == nil)
                let before = try await scene.snapshot()
                for _ in 0..<2 {
                    let again = try await call.send("key-1")
                    #expect(again.status == first.status, "\(again)")
                    #expect(again.body == first.body)
                    #expect(again.headers["idempotency-replayed"] == "true")
                    #expect(again.headers["content-type"] == first.headers["content-type"])
                    #expect(again.headers["x-request-id"] != first.headers["x-request-id"])
                }
                #expect(try await scene.snapshot() == before)
                // Another key, or none, is another request; a user of the same name is refused for its own reason.
                let another = try await call.send("key-2")
                #expect(another.status == first.status || another.code == "external_id_taken", "\(another)")
                #expect(another.body != first.body)
            }
        }
    }

    @Test("What is kept of a request gives away none of what it said to who guesses it: no hash without a key")
    func digests() async throws {
        // The file as it is; PostgreSQL's dumps spell bytes in their own way.
        try await TestDatabases.$isSQLite.withValue(true) {
            try await Scene.with { scene in
                let calls = try Self.calls(scene)
                for call in calls { _ = try await call.send("key-of-a-kept-reply").success() }
                let contents = try TestDatabases.contents(for: scene.server.dataFolder).values.flatMap { Array($0) }
                let hashes = calls.map { call in
                    SecretForms(call.path, bytes: Array(SHA256.hash(data: call.body.encoded)))
                }
                #expect(SecretSearch(hashes).names(in: contents) == [])
                let key = SecretForms("key", text: "key-of-a-kept-reply")
                #expect(SecretSearch([key]).names(in: contents) == ["key"])
            }
        }
    }

    @Test("The same key with another body is 422 idempotency_conflict, and does nothing")
    func conflict() async throws {
        try await Scene.with { scene in
            for call in try Self.calls(scene) {
                let first = try await call.send("key-1")
                let before = try await scene.snapshot()
                // A blank more is another body: what was sent is compared, not what it means.
                let spaced = [0x20] + call.body.encoded
                var replies = [
                    try await call.caller.send(.POST, call.path, headers: [("Idempotency-Key", "key-1")], body: spaced)
                ]
                if call.other != call.body { replies.append(try await call.send("key-1", call.other)) }
                for reply in replies { expectRefusal(reply, 422, "idempotency_conflict") }
                #expect(try await scene.snapshot() == before)
                #expect(try await call.send("key-1").body == first.body)
            }
        }
    }

    @Test("A key is its caller's own, and its route's own")
    func scopes() async throws {
        try await Scene.with { scene in
            let rival = try await scene.server.makeClient("Rival")
            let users = try #require(try Self.calls(scene).first { $0.path == "/v1/users" })
            let shops = try await users.send("key-1")
            let rivals = try await users.send("key-1", by: rival)
            #expect(rivals.status == 201)
            #expect(rivals.headers["idempotency-replayed"] == nil)
            #expect(rivals.json["id"] != shops.json["id"])
            // The same body on two paths.
            let other = try #require(shops.json["id"]?.string)
            var tickets: Set<JSONValue?> = []
            for user in [scene.user, other] {
                let reply = try await scene.shop.call(
                    .POST, "/v1/users/\(user)/enrollment-tickets", nil, headers: [("Idempotency-Key", "key-1")])
                #expect(reply.headers["idempotency-replayed"] == nil)
                #expect(reply.json["user"] == .string(user))
                tickets.insert(reply.json["ticket"])
            }
            #expect(tickets.count == 2)
        }
    }

    @Test("A refusal is not kept: the same request may succeed later, and is then kept")
    func refusals() async throws {
        try await Scene.with { scene in
            let user = try await scene.shop.makeUser("customer-2")
            let call = Call(
                caller: scene.shop, path: "/v1/challenges",
                body: ["user": .string(user), "type": "payment", "message": "Pay?"], other: [:])
            expectRefusal(try await call.send("key-1"), 409, "no_enrollment")
            expectRefusal(try await call.send("key-1", call.other), 422, "missing_member", at: "/type")
            _ = try await TestPhone.enrolled(for: user, by: scene.shop, at: scene.server)
            let asked = try await call.send("key-1")
            #expect(asked.status == 201, "\(asked)")
            #expect(try await call.send("key-1").body == asked.body)
        }
    }

    @Test("Twenty at once do it once, and all get that one's reply")
    func atOnce() async throws {
        try await Scene.with { scene in
            for call in try Self.calls(scene) {
                let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                    for _ in 0..<20 { group.addTask { try await call.send("key-1") } }
                    return try await group.reduce(into: [Reply]()) { $0.append($1) }
                }
                #expect(replies.allSatisfy { $0.status < 300 && $0.body == replies[0].body }, "\(replies[0])")
                #expect(replies.count { $0.headers["idempotency-replayed"] == nil } == 1)
            }
            let challenges = try await scene.administrator.auditCount("challenge.asked")
            #expect(challenges == 1)
        }
    }

    @Test("A repeat is authorised anew: who knows the key alone learns nothing")
    func authorised() async throws {
        try await Scene.with { scene in
            for call in try Self.calls(scene) {
                _ = try await call.send("key-1")
                expectRefusal(try await call.send("key-1", by: scene.server.caller("Bearer x")), 401, "unauthorized")
            }
        }
    }

    @Test("A reply is kept for 24 hours, and then the key is free for another request")
    func expiry() async throws {
        try await Scene.with { scene in
            // The operator's token ends after 24 hours, too.
            let calls = try Self.calls(scene).filter { $0.caller.clientID == scene.shop.clientID }
            #expect(calls.count == 3)
            var first: [Reply] = []
            for call in calls { first.append(try await call.send("key-1")) }
            scene.server.clock.advance(seconds: 23 * 3600)
            for (call, first) in zip(calls, first) {
                let again = try await call.send("key-1")
                #expect(again.status == 201 && again.body == first.body, "\(again)")
                #expect(again.headers["idempotency-replayed"] == "true")
                if call.other != call.body {
                    expectRefusal(try await call.send("key-1", call.other), 422, "idempotency_conflict")
                }
            }
            scene.server.clock.advance(seconds: 3601)
            // What is over is swept every few seconds.
            let end = ContinuousClock.now.advanced(by: .seconds(60))
            var asked = try await calls[0].send("key-1")
            while asked.headers["idempotency-replayed"] != nil, .now < end {
                try await letItWait()
                asked = try await calls[0].send("key-1")
            }
            #expect(asked.status == 201 && asked.body != first[0].body, "\(asked)")
            for (call, first) in zip(calls, first).dropFirst() {
                let body = call.other != call.body ? call.other : call.body
                let new = try await call.send("key-1", body)
                #expect(new.status == 201 && new.body != first.body, "\(new)")
                #expect(new.headers["idempotency-replayed"] == nil)
                #expect(try await call.send("key-1", body).body == new.body)
            }
        }
    }

    @Test("A key of other than 1 to 255 visible ASCII characters is 400, and nothing is done")
    func malformed() async throws {
        try await Scene.with { scene in
            let before = try await scene.snapshot()
            for call in try Self.calls(scene) {
                for key in ["", "a b", "ä", String(repeating: "k", count: 256)] {
                    expectRefusal(try await call.send(key), 400, "invalid_idempotency_key", at: nil, key)
                }
                let twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
                let reply = try await call.caller.call(.POST, call.path, call.body, headers: twice)
                expectRefusal(reply, 400, "invalid_idempotency_key")
            }
            #expect(try await scene.snapshot() == before)
            for call in try Self.calls(scene) {
                #expect(try await call.send(String(repeating: "~", count: 255)).status < 300)
            }
        }
    }
}
