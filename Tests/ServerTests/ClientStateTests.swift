import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("A client whose secret is renewed, that is disabled, or deleted")
struct ClientStateTests {
    /// Far less than a wait lasts, and more than a busy machine needs.
    private static let soon = Duration.seconds(25)

    /// A client by another secret than the one it was made with.
    private static func caller(_ id: String, _ secret: JSONValue?, _ scene: Scene) throws -> Caller {
        let text = try #require(secret?.string)
        return scene.server.caller("Basic \(Base64.encode(Array("\(id):\(text)".utf8)))")
    }

    private static func renew(_ overlap: Int64, _ scene: Scene) async throws -> Caller {
        let id = scene.shop.clientID
        let renewed = try await scene.administrator.call(
            .POST, "/v1/clients/\(id)/secret", ["overlap": .integer(overlap)]
        ).success()
        #expect(renewed["client_id"]?.string == id)
        return try caller(id, renewed["client_secret"], scene)
    }

    /// What ends waits and streams, and what those who waited are told.
    enum End: String, CaseIterable, Sendable {
        case disabled, deleted, rightTaken, secretRevoked

        var refusal: (status: Int, code: String) {
            switch self {
            case .disabled: (403, "client_disabled")
            case .deleted, .secretRevoked: (401, "unauthorized")
            case .rightTaken: (403, "right_missing")
            }
        }

        func bring(_ scene: Scene) async throws {
            let path = "/v1/admin/clients/\(scene.shop.clientID)"
            switch self {
            case .disabled: _ = try await scene.administrator.call(.POST, path + "/disable").success()
            case .deleted: _ = try await scene.administrator.call(.DELETE, path).success()
            case .rightTaken: _ = try await scene.administrator.call(.PATCH, path, ["rights": ["users"]]).success()
            case .secretRevoked: _ = try await renew(0, scene)
            }
        }
    }

    @Test("Waits end at once when the client, its right or its secret goes, and say why", arguments: End.allCases)
    func waits(_ end: End) async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<5 {
                    group.addTask { try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)?wait=60") }
                }
                try await letItWait()
                let start = ContinuousClock.now
                try await end.bring(scene)
                for try await reply in group { expectRefusal(reply, end.refusal.status, end.refusal.code) }
                #expect(start.duration(to: .now) < Self.soon)
            }
        }
    }

    @Test("Event streams end at once, and tell nothing more", arguments: End.allCases)
    func streams(_ end: End) async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            try await scene.shop.stream("/v1/challenges/\(asked.id)/events") { stream in
                var events = stream.makeAsyncIterator()
                #expect(try await events.next()?.id == "pending")
                try await letItWait()
                let start = ContinuousClock.now
                try await end.bring(scene)
                #expect(try await events.next() == nil)
                #expect(start.duration(to: .now) < Self.soon)
            }
            expectRefusal(
                try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)"), end.refusal.status, end.refusal.code)
        }
    }

    @Test("A renewed secret works at once, the earlier one until the overlap is over, one before that no more")
    func renewed() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let path = "/v1/challenges/\(asked.id)"
            let second = try await Self.renew(60, scene)
            #expect(second.authorization != scene.shop.authorization)
            for caller in [scene.shop, second] { #expect(try await caller.call(.GET, path).status == 200) }
            let third = try await Self.renew(60, scene)
            expectRefusal(try await scene.shop.call(.GET, path), 401, "unauthorized")
            for caller in [second, third] { #expect(try await caller.call(.GET, path).status == 200) }
            // Who waits by the earlier one waits no longer than it works.
            try await second.stream("/v1/challenges/\(asked.id)/events") { stream in
                var events = stream.makeAsyncIterator()
                #expect(try await events.next()?.id == "pending")
                scene.server.clock.advance(seconds: 61)
                while let event = try await events.next() { #expect(event.name == nil) }
            }
            expectRefusal(try await second.call(.GET, path), 401, "unauthorized")
            #expect(try await third.call(.GET, path).status == 200)
            #expect(try await scene.administrator.auditCount("client_secret.renewed") == 2)
        }
    }

    @Test("A secret is renewed once per idempotency key, and by operators alone: a stolen one locks nobody out")
    func whoRenews() async throws {
        try await Scene.with { scene in
            let path = "/v1/clients/\(scene.shop.clientID)/secret"
            expectRefusal(try await scene.shop.call(.POST, path), 403, "right_missing")
            expectRefusal(try await scene.server.send(.POST, path), 401, "unauthorized")
            for overlap: JSONValue in [-1, 604_801, "60"] {
                expectRefusal(
                    try await scene.administrator.call(.POST, path, ["overlap": overlap]), 422, "invalid_member",
                    at: "/overlap")
            }
            let key = [("Idempotency-Key", "renew-1")]
            let first = try await scene.administrator.call(.POST, path, headers: key)
            let again = try await scene.administrator.call(.POST, path, headers: key)
            #expect(first.status == 201 && first.body == again.body)
            let clients = try await scene.administrator.call(.GET, "/v1/admin/clients").success()["clients"]?.array
            let own = try #require((clients ?? []).first { $0["is_operator"] == true }?["client_id"]?.string)
            let unknown = String(scene.shop.clientID.dropLast(4)) + "0000"
            for id in [own, unknown, "none"] {
                for (method, rest) in [(HTTPMethod.POST, "/disable"), (.POST, "/enable"), (.DELETE, "")] {
                    expectRefusal(
                        try await scene.administrator.call(method, "/v1/admin/clients/\(id)\(rest)"), 404,
                        "client_not_found")
                    expectRefusal(
                        try await scene.shop.call(method, "/v1/admin/clients/\(id)\(rest)"), 403, "right_missing")
                }
                expectRefusal(
                    try await scene.administrator.call(.POST, "/v1/clients/\(id)/secret"), 404, "client_not_found")
            }
        }
    }

    @Test("A disabled client is refused everywhere, its questions are cancelled, its tickets void; enabled, it goes on")
    func disabled() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let ticket = try await scene.shop.makeTicket(for: scene.user)
            let path = "/v1/admin/clients/\(scene.shop.clientID)"
            let shown = try await scene.administrator.call(.POST, path + "/disable").success()
            #expect(shown["disabled_at"]?.string != nil)
            #expect(try await scene.administrator.call(.POST, path + "/disable").success() == shown)
            let calls: [(HTTPMethod, String)] = [
                (.GET, "/v1/challenges/\(asked.id)"), (.POST, "/v1/challenges"), (.GET, "/v1/users/\(scene.user)"),
                (.POST, "/v1/users"), (.POST, "/v1/users/\(scene.user)/enrollment-tickets"),
                (.GET, "/v1/admin/clients"),
            ]
            for (method, path) in calls {
                expectRefusal(try await scene.shop.call(method, path), 403, "client_disabled", method.rawValue + path)
            }
            // Who does not know the secret learns nothing.
            let guess = try Self.caller(scene.shop.clientID, "wrong", scene)
            expectRefusal(try await guess.call(.GET, "/v1/users/\(scene.user)"), 401, "unauthorized")
            let pending = try await scene.phone.send(.GET, "/v1/enrollments/self/challenges").success()
            #expect(pending["challenges"] == [])
            expectRefusal(
                try await scene.phone.send(.GET, "/v1/challenges/\(asked.id)/message"), 409, "already_ended")
            let other = try await TestPhone(invitation: ticket, server: scene.server)
            expectRefusal(try await other.enroll(), 403, "ticket_invalid")
            let enabled = try await scene.administrator.call(.POST, path + "/enable").success()
            #expect(enabled["disabled_at"] == nil)
            // Whoever had its secret may have asked for it.
            expectRefusal(try await other.enroll(), 403, "ticket_invalid")
            #expect(try await scene.state(of: asked.id) == "cancelled")
            _ = try await scene.approve(try await scene.ask()).success()
            for kind in ["client.disabled", "client.enabled"] {
                #expect(try await scene.administrator.auditCount(kind) == 1)
            }
        }
    }

    @Test("Unlinking a user cancels what is open between the two, and ends who waits for it")
    func unlinked() async throws {
        try await Scene.with { scene in
            let bank = try await scene.server.makeClient("Bank")
            let asked = try await scene.ask()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                group.addTask { try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)?wait=60") }
                try await letItWait()
                _ = try await scene.shop.call(.DELETE, "/v1/users/\(scene.user)").success()
                for try await reply in group { #expect(try reply.success()["state"] == "cancelled") }
            }
            expectRefusal(try await bank.call(.GET, "/v1/challenges/\(asked.id)"), 404, "challenge_not_found")
        }
    }

    @Test("Deleting a client deletes who has no other; receipts stay in the database, and nobody fetches them")
    func deleted() async throws {
        try await Scene.with { scene in
            let approved = try await scene.ask()
            _ = try await scene.approve(approved).success()
            let open = try await scene.ask()
            let path = "/v1/admin/clients/\(scene.shop.clientID)"
            #expect(try await scene.administrator.call(.DELETE, path).status == 204)
            expectRefusal(try await scene.administrator.call(.DELETE, path), 404, "client_not_found")
            expectRefusal(try await scene.administrator.call(.PATCH, path, [:]), 404, "client_not_found")
            expectRefusal(
                try await scene.shop.call(.GET, "/v1/challenges/\(approved.id)/receipt"), 401, "unauthorized")
            expectRefusal(
                try await scene.phone.send(.GET, "/v1/enrollments/self"), 403, "device_deregistered")
            let clients = try await scene.administrator.call(.GET, "/v1/admin/clients").success()["clients"]?.array
            #expect((clients ?? []).allSatisfy { $0["client_id"]?.string != scene.shop.clientID })
            let events = try await scene.administrator.auditEvents()
            #expect(
                events.contains { $0["kind"] == "challenge.cancelled" && $0["challenge"]?.string == open.id })
            #expect(events.contains { $0["kind"] == "user.deleted" && $0["user"]?.string == scene.user })
            #expect(events.contains { $0["kind"] == "client.deleted" })
        }
    }
}
