import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Who may call")
struct CredentialTests {
    /// Every operation of clients and operators, its path filled with what exists.
    private static func operations(_ scene: Scene, _ challenge: String) -> [(HTTPMethod, String, right: String)] {
        let values = [
            "{challenge}": challenge, "{user}": scene.user, "{enrollment}": "\(scene.phone.enrollment)",
            "{type}": "payment",
        ]
        let operations = Contract.served.operations.filter { operation in
            operation.value["security"]?.array?.contains { $0["bootstrapToken"] != nil } ?? false
        }
        return operations.map { operation in
            let path = values.reduce(operation.path) { $0.replacing($1.key, with: $1.value) }
            let right =
                switch operation.value["tags"]?[0]?.string {
                case "Challenges": "challenges"
                case "Users": operation.path.hasSuffix("/methods") ? "challenges" : "users"
                case "Enrollments": "enrollments"
                default: "admin"
                }
            return (HTTPMethod(rawValue: operation.method), path, right)
        }
    }

    @Test("RFC 6750 §3.1, RFC 9110 §15.5.2: without credentials every route of clients and operators is 401")
    func none() async throws {
        try await Scene.with { scene in
            let challenge = try await scene.ask().id
            let before = try await scene.snapshot()
            let operations = Self.operations(scene, challenge)
            #expect(operations.count >= 17)
            for (method, path, _) in operations {
                let reply = try await scene.server.send(method, path)
                expectRefusal(reply, 401, "unauthorized")
                #expect(reply.headers["www-authenticate"] == "Basic realm=\"countersign\"")
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("A client without the right of a route gets 403 and the right's name, whatever other rights it has")
    func rights() async throws {
        try await Scene.with { scene in
            let challenge = try await scene.ask().id
            let all = ["challenges", "users", "enrollments"]
            var callers: [String: Caller] = ["admin": scene.shop]
            for right in all {
                let others = all.filter { $0 != right }.map(JSONValue.string)
                callers[right] = try await scene.server.makeClient("Without \(right)", ["rights": .array(others)])
            }
            let before = try await scene.snapshot()
            for (method, path, right) in Self.operations(scene, challenge) {
                let caller = try #require(callers[right])
                let reply = try await caller.call(method, path)
                expectRefusal(reply, 403, "right_missing")
                #expect(reply.json["right"] == .string(right))
            }
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("RFC 6749 §2.3.1: every wrong credential is 401, and unknown client and wrong secret get the same reply")
    func wrong() async throws {
        try await Scene.with { scene in
            let id = scene.shop.clientID
            let secret = try secret(of: scene.shop)
            let clients = try await scene.administrator.call(.GET, "/v1/admin/clients").success()
            let builtIn = clients["clients"]?.array?.first { $0["is_operator"] == true }
            let operatorID = try #require(builtIn?["client_id"]?.string)
            func basic(_ text: String) -> String { "Basic \(Base64.encode(Array(text.utf8)))" }
            let unknown = id.dropLast() + (id.hasSuffix("0") ? "1" : "0")
            let refused = [
                "Basic", "Basic ", "Basic !!!", "Bearer", "Bearer ", "Bearer \(secret)",
                "Bearer \(scene.server.token)x",
                "Digest username=\"\(id)\"", secret, basic(id), basic(":"), basic("\(id):"), basic(":\(secret)"),
                basic("\(id):\(secret)x"), basic("\(id):\(secret.dropLast())"), basic("\(id):\(secret.uppercased())"),
                basic("\(id.uppercased()):\(secret)"), basic("\(id):%zz"), basic("\(operatorID):"),
                basic("\(operatorID):\(scene.server.token)"), basic("\(unknown):\(secret)"),
                "Basic \(Base64.encode([0xFF, 0x3A, 0xFF]))",
            ]
            let before = try await scene.snapshot()
            for authorization in refused {
                let caller = scene.server.caller(authorization)
                expectRefusal(
                    try await caller.call(.GET, "/v1/users/\(scene.user)"), 401, "unauthorized", at: nil, authorization)
            }
            let wrongSecret = try await scene.server.caller(basic("\(id):wrong")).call(.GET, "/v1/users/\(scene.user)")
            let noSuchClient = try await scene.server.caller(basic("\(unknown):wrong"))
                .call(.GET, "/v1/users/\(scene.user)")
            #expect(wrongSecret.bodyWithoutRequestID == noSuchClient.bodyWithoutRequestID)
            #expect(try await scene.snapshot() == before)
        }
    }

    @Test("RFC 9110 §5.3: two Authorization fields are nobody's credentials")
    func twice() async throws {
        try await Scene.with { scene in
            let field = ("Authorization", scene.shop.authorization)
            let reply = try await scene.server.send(.GET, "/v1/users/\(scene.user)", headers: [field, field])
            expectRefusal(reply, 401, "unauthorized")
        }
    }

    @Test("RFC 6749 §2.3.1: id and secret may come form-encoded, the scheme in any case")
    func encoded() async throws {
        try await Scene.with { scene in
            let secret = try secret(of: scene.shop)
            let encoded = "\(scene.shop.clientID):\(secret)".replacing("_", with: "%5F").replacing("-", with: "%2D")
            for scheme in ["Basic ", "bAsIc ", "basic   "] {
                let caller = scene.server.caller(scheme + Base64.encode(Array(encoded.utf8)))
                #expect(try await caller.call(.GET, "/v1/users/\(scene.user)").status == 200, "\(scheme)")
            }
        }
    }

    private func secret(of caller: Caller) throws -> String {
        let bytes = try #require(Base64.decode(caller.authorization.dropFirst(6)))
        return String(String(decoding: bytes, as: UTF8.self).dropFirst(caller.clientID.count + 1))
    }
}
