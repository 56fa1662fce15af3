import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Who makes OneWelcome's calls")
struct OneWelcomeClientTests {
    private static let wrong = "Basic \(Base64.encode(Array("invalid:invalid".utf8)))"

    /// The portal's credentials as fields of a form.
    private static func fields(_ caller: Caller) -> [(String, String)] {
        let pair = String(decoding: Base64.decode(caller.authorization.dropFirst(6)) ?? [], as: UTF8.self)
            .split(separator: ":").map(String.init)
        return [("client_id", pair[0]), ("client_secret", pair[1])]
    }

    private static func send(
        _ scene: OneWelcomeScene, _ method: HTTPMethod, _ path: String, form: [(String, String)]? = nil
    ) async throws -> Reply {
        try await scene.server.send(
            method, path, headers: form == nil ? [] : [("Content-Type", "application/x-www-form-urlencoded")],
            body: form.map { Array(FormText.encoded($0).utf8) }, isContract: false)
    }

    // Spec: RFC 6749 §5.2.
    @Test("Wrong credentials, and none, are invalid_client, whatever else is wrong")
    func wrong() async throws {
        try await OneWelcomeScene.with { scene in
            let path = "\(OneWelcomeScene.path)/user"
            let replies = [
                try await scene.post(path, scene.push, authorization: Self.wrong),
                try await scene.post(path, [], authorization: Self.wrong),
                try await Self.send(scene, .POST, path, form: scene.push),
                try await Self.send(scene, .POST, path, form: scene.push + [("client_id", scene.portal.clientID)]),
                try await Self.send(scene, .GET, "\(path)/customer-1/enabled"),
            ]
            for reply in replies {
                #expect(reply.status == 401 && reply.json["error"] == "invalid_client", "\(reply)")
                #expect(reply.headers["www-authenticate"] == "Basic realm=\"countersign\"")
                #expect(reply.headers["cache-control"] == "no-store")
            }
            let devices = try await Self.send(scene, .GET, "/oauth/api/v4/users/customer-1/devices")
            #expect(devices.status == 401 && devices.json["code"] == "unauthorized", "\(devices)")
            let both = try await scene.post(path, scene.push + [("client_secret", "x")])
            #expect(both.status == 400 && both.json["error"] == "invalid_request", "\(both)")
            #expect(try await scene.scene.administrator.auditCount("challenge.asked") == 0)
        }
    }

    @Test("After many wrong secrets the next are told to wait, and the right one is let in")
    func limit() async throws {
        try await OneWelcomeScene.with { scene in
            let path = "\(OneWelcomeScene.path)/user/customer-1/enabled"
            let guess = scene.server.caller(
                "Basic \(Base64.encode(Array("\(scene.portal.clientID):wrong".utf8)))")
            for _ in 0..<20 { #expect(try await scene.call(.GET, path, by: guess).status == 401) }
            let refused = try await scene.call(.GET, path, by: guess)
            #expect(refused.status == 429 && refused.headers["retry-after"] != nil, "\(refused)")
            #expect(try await scene.call(.GET, path).status == 200)
        }
    }

    @Test("Id and secret may stand in the form")
    func form() async throws {
        try await OneWelcomeScene.with { scene in
            let form = scene.push + Self.fields(scene.portal)
            let reply = try await Self.send(scene, .POST, "\(OneWelcomeScene.path)/user", form: form)
            #expect(reply.status == 200 && reply.json["auth_method"] == "push", "\(reply)")
        }
    }

    // Spec: RFC 6749 §2.3.1.
    @Test("A secret in a query is refused, so that it is not used where it would be logged")
    func secretInQuery() async throws {
        try await OneWelcomeScene.with { scene in
            let query = FormText.encoded(Self.fields(scene.portal))
            for path in ["\(OneWelcomeScene.path)/user/customer-1/enabled", "/oauth/api/v4/users/customer-1/devices"] {
                let reply = try await Self.send(scene, .GET, "\(path)?\(query)")
                #expect(reply.status == 400 && reply.json["error"] == "invalid_request", "\(reply)")
            }
        }
    }

    // Spec: RFC 7523 §2.2.
    @Test("A client with keys signs an assertion for each call: in the form, or in the query of a call without one")
    func assertions() async throws {
        try await OneWelcomeScene.with { scene in
            let key = P256.Signing.PrivateKey()
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": ["https://www.myportal.com/back"],
                "jwks": JWKSet([JWK(key.publicKey)]).json,
            ]
            let id = scene.portal.clientID
            _ = try await scene.scene.administrator.call(.PUT, "/v1/admin/clients/\(id)/openid", settings).success()
            @Sendable func assertion() async throws -> [(String, String)] {
                let now = scene.server.clock.now.seconds
                let claims: JSONValue = [
                    "iss": .string(id), "sub": .string(id), "aud": .string("\(scene.server.issuer)"),
                    "jti": .string("\(UInt64.random(in: 0...(.max)))"), "iat": .integer(now),
                    "exp": .integer(now + 60),
                ]
                let signed = try await JWS.sign(
                    claims.encoded, type: nil, by: key, keyID: key.jwsPublicKey.thumbprint)
                return [
                    ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                    ("client_assertion", signed),
                ]
            }
            let form = scene.push + (try await assertion())
            let path = "\(OneWelcomeScene.path)/user"
            let asked = try await Self.send(scene, .POST, path, form: form)
            let transaction = try #require(try asked.success()["transaction_id"]?.string)
            // Once each.
            #expect(try await Self.send(scene, .POST, path, form: form).status == 401)
            let query = FormText.encoded(try await assertion())
            let result = "\(OneWelcomeScene.path)/transaction/\(transaction)?\(query)"
            #expect(try await Self.send(scene, .GET, result).success()["is_authenticated"] == false)
            #expect(try await Self.send(scene, .GET, result).status == 401)
            // Its secret is worth nothing here any more.
            #expect(try await scene.result(of: transaction).status == 401)
        }
    }

    @Test("A client without the right, and one that is disabled, do nothing")
    func rights() async throws {
        try await OneWelcomeScene.with(client: ["rights": ["challenges", "users", "enrollments"]]) { scene in
            let transaction = try await scene.ask()
            let administrator = scene.scene.administrator
            let path = "/v1/admin/clients/\(scene.portal.clientID)"
            let devices = "/oauth/api/v4/users/customer-1/devices"
            #expect(try await administrator.call(.PATCH, path, ["rights": ["enrollments"]]).status == 200)
            let refused = try await scene.result(of: transaction)
            #expect(refused.status == 400 && refused.json["error"] == "unauthorized_client", "\(refused)")
            #expect(try await scene.post("\(OneWelcomeScene.path)/user", scene.push).status == 400)
            #expect(try await scene.call(.GET, devices).status == 200)
            #expect(try await administrator.call(.PATCH, path, ["rights": ["challenges"]]).status == 200)
            let other = try await scene.call(.GET, devices)
            #expect(other.status == 403 && other.json["code"] == "insufficient_permissions", "\(other)")
            #expect(try await scene.result(of: transaction).status == 200)
            #expect(try await administrator.call(.POST, "\(path)/disable").status == 200)
            for reply in [try await scene.result(of: transaction), try await scene.call(.GET, devices)] {
                #expect(reply.status == 401, "\(reply)")
            }
        }
    }
}
