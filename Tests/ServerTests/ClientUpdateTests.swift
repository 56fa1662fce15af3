import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Clients, changed by the operator")
struct ClientUpdateTests {
    @Test("What is named changes, what is not stays, and the password is never shown")
    func update() async throws {
        try await Scene.with { scene in
            let administrator = scene.server.administrator
            let path = "/v1/admin/clients/\(scene.shop.clientID)"
            let before = try await shown(scene.shop.clientID, to: administrator)
            let basic: JSONValue = ["username": "acme", "password": "open: sesame"]
            let changed = try await administrator.call(
                .PATCH, path,
                [
                    "name": "ACME Bank", "rights": ["challenges"], "callback_uris": ["https://bank.example.com/hook"],
                    "callback_basic": basic,
                ])
            #expect(changed.status == 200)
            let client = try changed.success()
            #expect(client["name"] == "ACME Bank")
            #expect(client["rights"] == ["challenges"])
            #expect(client["callback_uris"] == ["https://bank.example.com/hook"])
            #expect(client["callback_username"] == "acme")
            #expect(client["waive_enrollment_approval"] == before["waive_enrollment_approval"])
            #expect(!String(decoding: changed.body, as: UTF8.self).contains("sesame"))
            #expect(try await shown(scene.shop.clientID, to: administrator) == client)
            #expect(try await administrator.call(.PATCH, path, [:]).success() == client)
            expectRefusal(try await scene.shop.call(.POST, "/v1/users", [:]), 403, "right_missing")
            let told = try await administrator.call(.PATCH, path, ["notice_uri": "https://bank.example.com/n"])
                .success()
            #expect(
                told["notice_uri"] == "https://bank.example.com/n" && told["callback_uris"] == client["callback_uris"])
            let without = try await administrator.call(
                .PATCH, path, ["callback_basic": .null, "callback_uris": [], "notice_uri": .null]
            ).success()
            #expect(without["notice_uri"] == nil)
            #expect(without["callback_username"] == nil && without["callback_uris"] == [])
            #expect(without["name"] == "ACME Bank")
        }
    }

    @Test("What is wrong with a change is said, and nothing of it is done")
    func refusals() async throws {
        try await Scene.with { scene in
            let administrator = scene.server.administrator
            let path = "/v1/admin/clients/\(scene.shop.clientID)"
            let before = try await shown(scene.shop.clientID, to: administrator)
            let wrong: [(JSONValue, String, String)] = [
                (["name": "Two\nlines"], "text_refused", "/name"), (["name": 7], "invalid_member", "/name"),
                (["rights": ["admin"]], "invalid_member", "/rights"),
                (["callback_uris": ["http://bank.example.com/"]], "invalid_member", "/callback_uris/0"),
                (["callback_basic": ["username": "a:b", "password": "p"]], "invalid_member", "/callback_basic"),
                (["notice_uri": "http://bank.example.com/"], "invalid_member", "/notice_uri"),
                (["notice_uri": ["https://bank.example.com/"]], "invalid_member", "/notice_uri"),
                (["callback_basic": ["username": "a"]], "missing_member", "/callback_basic/password"),
                (
                    ["callback_basic": ["username": "a", "password": "p", "realm": "r"]], "unknown_member",
                    "/callback_basic/realm"
                ),
                (["client_secret": "x"], "unknown_member", "/client_secret"),
            ]
            for (body, code, pointer) in wrong {
                // Whatever else it says that is right.
                var body = body.object ?? [:]
                body["waive_enrollment_approval"] = true
                expectRefusal(try await administrator.call(.PATCH, path, .object(body)), 422, code, at: pointer)
            }
            #expect(try await shown(scene.shop.clientID, to: administrator) == before)
        }
    }

    @Test("A client that nobody knows, and the operator's own, are not there to be changed; only operators change any")
    func strangers() async throws {
        try await Scene.with { scene in
            let administrator = scene.server.administrator
            let clients = try await administrator.call(.GET, "/v1/admin/clients").success()["clients"]?.array ?? []
            let own = clients.first { $0["is_operator"] == true }?["client_id"]?.string ?? ""
            let unknown = String(scene.shop.clientID.dropLast(4)) + "0000"
            for id in [own, unknown, "none"] {
                let path = "/v1/admin/clients/\(id)"
                expectRefusal(
                    try await administrator.call(.PATCH, path, ["rights": []]), 404, "client_not_found")
                expectRefusal(
                    try await administrator.call(.POST, path + "/callback-secret"), 404, "client_not_found")
            }
            let path = "/v1/admin/clients/\(scene.shop.clientID)"
            expectRefusal(try await scene.shop.call(.PATCH, path, [:]), 403, "right_missing")
            expectRefusal(try await scene.shop.call(.POST, path + "/callback-secret"), 403, "right_missing")
        }
    }

    @Test("A new secret for callbacks is made once per idempotency key: a lost reply does not drop the one in use")
    func renewedSecret() async throws {
        try await Scene.with { scene in
            let administrator = scene.server.administrator
            let path = "/v1/admin/clients/\(scene.shop.clientID)/callback-secret"
            let key = [("Idempotency-Key", "renew-1")]
            let first = try await administrator.call(.POST, path, ["overlap": 3600], headers: key)
            let again = try await administrator.call(.POST, path, ["overlap": 3600], headers: key)
            #expect(first.status == 201 && first.body == again.body)
            #expect(again.headers["idempotency-replayed"] == "true")
            let secret = try first.success()["callback_secret"]?.string ?? ""
            #expect(secret.hasPrefix("whsec_") && secret != scene.shop.callbackSecret)
            expectRefusal(
                try await administrator.call(.POST, path, ["overlap": 60], headers: key), 422, "idempotency_conflict")
            let other = try await administrator.call(.POST, path).success()
            #expect(other["callback_secret"]?.string != secret)
            for overlap: JSONValue in [-1, 604_801, "60"] {
                expectRefusal(
                    try await administrator.call(.POST, path, ["overlap": overlap]), 422, "invalid_member",
                    at: "/overlap")
            }
            let events = try await administrator.call(.GET, "/v1/admin/events").success()["events"]?.array ?? []
            #expect(events.filter { $0["kind"] == "callback_secret.renewed" }.count == 2)
        }
    }

    private func shown(_ id: String, to administrator: Caller) async throws -> JSONValue {
        let clients = try await administrator.call(.GET, "/v1/admin/clients").success()["clients"]?.array ?? []
        return try #require(clients.first { $0["client_id"]?.string == id })
    }
}
