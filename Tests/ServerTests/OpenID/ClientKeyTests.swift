import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("Clients that authenticate by keys of their own")
struct ClientKeyTests {
    /// A client with two keys, and what it signs.
    private struct Signer {
        let scene: SignInPageScene
        let keys = [P256.Signing.PrivateKey(), P256.Signing.PrivateKey()]

        /// The public halves.
        var set: JSONValue { JWKSet(keys.map { JWK($0.publicKey) }).json }

        /// - Parameters:
        ///   - scene: the client.
        ///   - isRegistered: whether its settings have the keys.
        init(_ scene: SignInPageScene, isRegistered: Bool = true) async throws {
            self.scene = scene
            if isRegistered { try await scene.set(["asked_browsers": "all", "jwks": set]) }
        }

        /// The claims of a good assertion, with changes; nil leaves a claim out.
        func claims(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
            let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
            var claims: JSONObject = [
                "iss": .string(id), "sub": .string(id), "aud": .string("\(scene.server.issuer)"),
                "jti": .string("\(UInt64.random(in: 0...(.max)))"), "iat": .integer(now), "exp": .integer(now + 60),
            ]
            for (name, value) in changes { claims[name] = value }
            return .object(claims)
        }

        func sign(
            _ claims: JSONValue, type: String? = nil, by key: (any JWSSigningKey)? = nil, keyID: String? = nil
        ) async throws -> String {
            let key = key ?? keys[0]
            return try await JWS.sign(
                claims.encoded, type: type, by: key, keyID: keyID ?? key.jwsPublicKey.thumbprint)
        }

        /// Asks about a token: 200 if the client is authenticated.
        func ask(_ assertion: String, _ fields: [(String, String)] = [], basic: (String, String)? = nil) async throws
            -> Reply
        {
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            return try await scene.token(
                [("token", "x"), ("client_assertion_type", type), ("client_assertion", assertion)] + fields,
                basic: basic, at: "/oauth2/introspect")
        }
    }

    // Spec: OpenID Connect Core 1.0 §9; RFC 7523 §2.2.
    @Test("The code flow with assertions; the secret is worth nothing any more at these endpoints")
    func signsIn() async throws {
        try await SignInPageScene.with { scene in
            let signer = try await Signer(scene)
            let code = try #require(try await scene.signIn().result["code"])
            let refused = try await scene.redeem(code)
            #expect(refused.status == 401 && refused.json["error"] == "invalid_client", "\(refused)")
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            let reply = try await scene.token([
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", SignInPageScene.redirectURI),
                ("code_verifier", SignInPageScene.verifier), ("client_assertion_type", type),
                ("client_assertion", try await signer.sign(signer.claims())),
            ])
            #expect(reply.status == 200 && reply.json["id_token"] != nil, "\(reply)")
            for audience in ["/oauth2/token", "/oauth2/introspect"] {
                let claims = signer.claims(["aud": .string("\(scene.server.issuer)\(audience)")])
                let type = audience == "/oauth2/token" ? "JWT" : "client-authentication+jwt"
                #expect(try await signer.ask(try await signer.sign(claims, type: type)).status == 200)
            }
            #expect(try await signer.ask(try await signer.sign(signer.claims(), by: signer.keys[1])).status == 200)
            // Spec: RFC 7519 §2, NumericDate.
            let now = Double(scene.server.clock.now.seconds)
            let fractions = signer.claims(
                ["iat": .double(now - 0.5), "nbf": .double(now - 0.5), "exp": .double(now + 59.5)])
            #expect(try await signer.ask(try await signer.sign(fractions)).status == 200)
        }
    }

    // Spec: OpenID Connect Dynamic Client Registration 1.0 §2.
    @Test("The code flow with assertions by a key that the client publishes, and by no other")
    func published() async throws {
        try await SignInPageScene.with { scene in
            let signer = try await Signer(scene, isRegistered: false)
            try await LocalServer.with(answering: signer.set) { url in
                try await scene.set(["asked_browsers": "all", "jwks_uri": .string("\(url)/keys")])
                let code = try #require(try await scene.signIn().result["code"])
                let refused = try await scene.redeem(code)
                #expect(refused.status == 401 && refused.json["error"] == "invalid_client", "\(refused)")
                let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                let reply = try await scene.token([
                    ("grant_type", "authorization_code"), ("code", code),
                    ("redirect_uri", SignInPageScene.redirectURI), ("code_verifier", SignInPageScene.verifier),
                    ("client_assertion_type", type), ("client_assertion", try await signer.sign(signer.claims())),
                ])
                #expect(reply.status == 200 && reply.json["id_token"] != nil, "\(reply)")
                let stranger = P256.Signing.PrivateKey()
                for name in [stranger, signer.keys[0]].map(\.jwsPublicKey.thumbprint) {
                    let forged = try await signer.sign(signer.claims(), by: stranger, keyID: name)
                    #expect(try await signer.ask(forged).status == 401)
                }
                // Another address has other keys, whatever was fetched from the first one.
                try await LocalServer.with(answering: JWKSet([JWK(stranger.publicKey)]).json) { other in
                    try await scene.set(["asked_browsers": "all", "jwks_uri": .string(other)])
                    #expect(try await signer.ask(try await signer.sign(signer.claims())).status == 401)
                    let taken = try await signer.sign(signer.claims(), by: stranger)
                    #expect(try await signer.ask(taken).status == 200)
                }
            }
        }
    }

    @Test("A host of keys that hangs takes no place among the requests that are worked on, and nobody waits again")
    func hangingHost() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(dataFolder: folder.path("data"), settings: { $0.mostLoad = 1 }) { server in
            let shop = try await server.makeClient()
            let user = try await shop.makeUser()
            let silent = try await SilentHost()
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)],
                "jwks_uri": .string("http://127.0.0.1:\(silent.port)/keys"),
            ]
            let path = "/v1/admin/clients/\(shop.clientID)/openid"
            _ = try await server.administrator.call(.PUT, path, settings).success()
            let key = P256.Signing.PrivateKey()
            let claims: JSONValue = ["iss": .string(shop.clientID)]
            let assertion = try await JWS.sign(claims.encoded, type: nil, by: key, keyID: nil)
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            let form = FormText.encoded(
                [("token", "x"), ("client_assertion_type", type), ("client_assertion", assertion)])
            @Sendable func authenticate() async throws -> Int {
                try await server.send(
                    .POST, "/oauth2/introspect", headers: [("Content-Type", "application/x-www-form-urlencoded")],
                    body: Array(form.utf8), isContract: false
                ).status
            }
            async let first = authenticate()
            await silent.connection()
            for _ in 0..<5 { #expect(try await shop.call(.GET, "/v1/users/\(user)").status == 200) }
            #expect(try await first == 401)
            let start = ContinuousClock.now
            #expect(try await authenticate() == 401)
            // The first one took five seconds.
            #expect(ContinuousClock.now - start < .seconds(4))
            let line = "warning a client's keys cannot be used client=\(shop.clientID) error=Deadline exceeded"
            #expect(server.watch.book.entries.filter { $0.contains("a client's keys") } == [line])
            try await silent.close()
        }
    }

    // Spec: RFC 7521 §4.2; RFC 7523 §3; RFC 8725 §3.11.
    @Test("An assertion of somebody else, for somebody else, too old, too long, or again is refused")
    func refused() async throws {
        try await SignInPageScene.with { scene in
            let signer = try await Signer(scene)
            let now = scene.server.clock.now.seconds
            let other = "cli_00000000000000000000000000"
            let lies: [[String: JSONValue?]] = [
                ["iss": .string(other)], ["sub": .string(other)], ["iss": nil], ["sub": nil],
                ["aud": "https://other.example.com"], ["aud": nil],
                ["aud": [.string("\(scene.server.issuer)"), "https://other.example.com"]],
                ["aud": [.string("\(scene.server.issuer)")]], ["aud": .string("\(scene.server.issuer)/")],
                ["exp": .integer(now - 1)], ["exp": nil], ["exp": .integer(now + 3600)], ["exp": .integer(.max)],
                ["exp": .double(Double(now) + 0.5)], ["exp": .double(1e300)],
                ["iat": .integer(now + 120)], ["nbf": .integer(now + 120)], ["nbf": "now"],
                ["jti": nil], ["jti": ""], ["jti": .string(String(repeating: "x", count: 256))], ["jti": 1],
                ["jti": "a\u{0}"],
            ]
            for lie in lies {
                let reply = try await signer.ask(try await signer.sign(signer.claims(lie)))
                #expect(reply.status == 401 && reply.json["error"] == "invalid_client", "\(lie): \(reply)")
            }
            let stranger = P256.Signing.PrivateKey()
            let forged = try await signer.sign(
                signer.claims(), by: stranger, keyID: signer.keys[0].jwsPublicKey.thumbprint)
            let unknown = try await signer.sign(signer.claims(), by: stranger)
            let kind = try await signer.sign(signer.claims(), type: "at+jwt")
            let unsigned = "eyJhbGciOiJub25lIn0.\(Base64URL.encode(signer.claims().encoded))."
            for text in [forged, unknown, kind, unsigned, "x", "a.b.c"] {
                #expect(try await signer.ask(text).status == 401, "\(text)")
            }
            let good = try await signer.sign(signer.claims())
            let both = try await signer.ask(good, basic: scene.credential)
            #expect(both.status == 400 && both.json["error"] == "invalid_request")
            #expect(try await signer.ask(good, [("client_id", other)]).status == 401)
            let fresh = try await signer.sign(signer.claims())
            let replies = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await signer.ask(fresh).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.sorted() == [200, 401, 401, 401])
            // Another client's assertion is its own, and a disabled client's is none.
            let id = scene.credential.id
            _ = try await scene.scene.administrator.call(.POST, "/v1/admin/clients/\(id)/disable")
            #expect(try await signer.ask(try await signer.sign(signer.claims())).status == 401)
        }
    }

    @Test("Private keys, no keys, and keys of an app are refused where they are set")
    func unfit() async throws {
        try await SignInPageScene.with { scene in
            let key = P256.Signing.PrivateKey()
            var secret = JWK(key.publicKey).json.object ?? [:]
            secret["d"] = .string(Base64URL.encode(Array(key.rawRepresentation)))
            let set = JWKSet([JWK(key.publicKey)]).json
            let bodies: [JSONObject] = [
                ["profile": "web", "jwks": ["keys": [.object(secret)]]], ["profile": "web", "jwks": ["keys": []]],
                ["profile": "web", "jwks": "x"], ["profile": "native", "jwks": set],
            ]
            for members in bodies {
                var body = members
                body["redirect_uris"] = [.string(SignInPageScene.redirectURI)]
                let reply = try await scene.scene.administrator.call(
                    .PUT, "/v1/admin/clients/\(scene.credential.id)/openid", .object(body))
                expectRefusal(reply, 422, "invalid_member", at: "/jwks")
            }
        }
    }

    // Spec: OpenID Connect Dynamic Client Registration 1.0 §2.
    @Test("Where keys are published is set and shown; beside keys, of an app, and where nobody should go it is refused")
    func unfitURI() async throws {
        try await SignInPageScene.with { scene in
            let path = "/v1/admin/clients/\(scene.credential.id)/openid"
            let good = "https://shop.example.com/keys?a=b"
            try await scene.set(["jwks_uri": .string(good)])
            let shown = try await scene.scene.administrator.call(.GET, path).success()
            #expect(shown["jwks_uri"] == .string(good) && shown["jwks"] == nil, "\(shown)")
            let set = JWKSet([JWK(P256.Signing.PrivateKey().publicKey)]).json
            let bodies: [JSONObject] = [
                ["jwks": set, "jwks_uri": .string(good)], ["profile": "native", "jwks_uri": .string(good)],
                ["profile": "spa", "jwks_uri": .string(good)], ["jwks_uri": "http://shop.example.com/keys"],
                ["jwks_uri": "https://shop.example.com/keys#x"], ["jwks_uri": "https://u@shop.example.com/keys"],
                ["jwks_uri": "file:///etc/passwd"], ["jwks_uri": ""], ["jwks_uri": 1], ["jwks_uri": ["x"]],
                ["jwks_uri": .string("https://shop.example.com/" + String(repeating: "x", count: 2024))],
            ]
            for members in bodies {
                var body: JSONObject = ["profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)]]
                for member in members.members { body[member.name] = member.value }
                let reply = try await scene.scene.administrator.call(.PUT, path, .object(body))
                expectRefusal(reply, 422, "invalid_member", at: "/jwks_uri", "\(members)")
            }
            #expect(try await scene.scene.administrator.call(.GET, path).success() == shown)
        }
    }
}
