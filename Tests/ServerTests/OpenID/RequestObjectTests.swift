import CountersignWire
import Crypto
import CryptoExtras
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

/// An RSA key that signs by PSS, as a client's does.
struct PSSKey: JWSSigningKey {
    /// The same key, which signs by RS256.
    let key: RSAPrivateKey

    init() throws { key = try RSAPrivateKey() }

    var jwsPublicKey: JWSPublicKey { .rsaPSS(key.publicKey) }

    func jwsSignature(of input: [UInt8]) async throws -> [UInt8] {
        let signer = try _RSA.Signing.PrivateKey(unsafeDERRepresentation: key.derRepresentation.reveal())
        return Array(try signer.signature(for: SHA256.hash(data: input), padding: .PSS).rawRepresentation)
    }
}

@Suite("Authorization requests that clients sign")
struct RequestObjectTests {
    /// A client with a key, and what it signs.
    private struct Signer {
        let scene: SignInPageScene
        let key = P256.Signing.PrivateKey()

        init(_ scene: SignInPageScene, _ settings: JSONObject = [:], others: [JWK] = []) async throws {
            self.scene = scene
            var all: JSONObject = ["asked_browsers": "all", "jwks": JWKSet([JWK(key.publicKey)] + others).json]
            for member in settings.members { all[member.name] = member.value }
            try await scene.set(all)
        }

        /// The claims of a good request object, with changes; nil leaves a claim out.
        func claims(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
            let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
            var claims: JSONObject = [
                "iss": .string(id), "aud": .string("\(scene.server.issuer)"), "nbf": .integer(now),
                "exp": .integer(now + 300), "client_id": .string(id),
                "redirect_uri": .string(SignInPageScene.redirectURI), "response_type": "code", "scope": "openid",
                "state": "s-1", "nonce": "n-1", "code_challenge": .string(SignInPageScene.challenge),
                "code_challenge_method": "S256",
            ]
            for (name, value) in changes { claims[name] = value }
            return .object(claims)
        }

        func sign(
            _ changes: [String: JSONValue?] = [:], type: String? = "oauth-authz-req+jwt",
            by other: (any JWSSigningKey)? = nil, keyID: String? = nil
        ) async throws -> String {
            let signer = other ?? key
            return try await JWS.sign(
                claims(changes).encoded, type: type, by: signer, keyID: keyID ?? signer.jwsPublicKey.thumbprint)
        }

        func link(_ object: String, _ more: String = "") -> String {
            "/oauth2/authorize?client_id=\(scene.credential.id)&request=\(object)\(more)"
        }

        func get(_ object: String, _ more: String = "") async throws -> Page {
            try await scene.browser.get(link(object, more))
        }

        /// Pushes it beside the usual parameters.
        func push(_ object: String?, assertion other: String? = nil) async throws -> Reply {
            let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
            let claims: JSONValue = [
                "iss": .string(id), "sub": .string(id), "aud": .string("\(scene.server.issuer)"),
                "jti": .string("\(UInt64.random(in: 0...(.max)))"), "exp": .integer(now + 60),
            ]
            let own = try await JWS.sign(claims.encoded, type: nil, by: key, keyID: key.jwsPublicKey.thumbprint)
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            return try await scene.push(
                [
                    "request": object, "state": "outside", "client_assertion_type": type,
                    "client_assertion": other ?? own,
                ], headers: [])
        }
    }

    /// Expects a page that says why, and no way to the client.
    private func expectRefused(_ page: Page, _ what: String, at location: SourceLocation = #_sourceLocation) {
        let leads = page.location != nil || page.onward != nil
        #expect(page.status == 400 && !leads && page.request == nil, "\(what): \(page.reply)", sourceLocation: location)
        #expect(page.html.contains("request: "), "\(what): \(page.html)", sourceLocation: location)
    }

    // Spec: RFC 9101 §5, §6, §6.3.
    @Test("What the client has signed counts, and nothing beside it; its page can be loaded again")
    func signsIn() async throws {
        try await SignInPageScene.with { scene in
            let signer = try await Signer(scene)
            let object = try await signer.sign()
            for _ in 0..<2 {
                let page = try await signer.get(object)
                #expect(page.status == 200 && page.request != nil, "\(page.reply)")
            }
            _ = try await scene.signIn()
            let more = "&state=evil&nonce=evil&redirect_uri=https%3A%2F%2Fevil.example%2F&scope=email&prompt=login"
            let given = try await signer.get(object, more)
            #expect(given.location?.hasPrefix("\(SignInPageScene.redirectURI)?") == true, "\(given.reply)")
            #expect(given.result["code"] != nil && given.result["state"] == "s-1", "\(given.reply)")
            let stateless = try await signer.get(try await signer.sign(["state": nil]), more)
            #expect(stateless.result["code"] != nil && stateless.result["state"] == nil, "\(stateless.reply)")
            let elsewhere = FormText.encoded(SignInPageScene.redirectURI)
            let nowhere = try await signer.get(
                try await signer.sign(["redirect_uri": nil]), "&redirect_uri=\(elsewhere)")
            #expect(nowhere.status == 400 && nowhere.location == nil, "\(nowhere.reply)")
            #expect(nowhere.html.contains("redirect_uri"))
            let posted = try await scene.browser.post(
                "/oauth2/authorize", [("client_id", scene.credential.id), ("request", object)])
            let location = try #require(posted.location, "\(posted.reply)")
            #expect(try await scene.browser.get(location).result["code"] != nil)
        }
    }

    // Spec: RFC 9101 §4, §10.8; RFC 7518 §3.5.
    @Test("Each algorithm that we know, by the key that is for it; other forms of the same are taken")
    func accepted() async throws {
        try await SignInPageScene.with { scene in
            let (pss, rsa, edwards) = (try PSSKey(), try RSAPrivateKey(), Curve25519.Signing.PrivateKey())
            let signer = try await Signer(
                scene, others: [JWK(pss.jwsPublicKey), JWK(rsa.jwsPublicKey), JWK(edwards.jwsPublicKey)])
            for key in [pss, rsa, edwards] as [any JWSSigningKey] {
                let page = try await signer.get(try await signer.sign(by: key))
                #expect(page.request != nil, "\(key.jwsPublicKey.algorithm): \(page.reply)")
            }
            for type in [nil, "JWT", "oauth-authz-req+jwt", "OAuth-Authz-Req+JWT"] {
                #expect(try await signer.get(try await signer.sign(type: type)).request != nil, "\(type ?? "none")")
            }
            let now = scene.server.clock.now.seconds
            let issuer = JSONValue.string("\(scene.server.issuer)")
            let others: [[String: JSONValue?]] = [
                ["aud": [issuer, "https://other.example.com"]], ["sub": "usr_x"], ["jti": "1"], ["unknown": true],
                ["nbf": .integer(now - 3000), "exp": .integer(now + 600)], ["nbf": .integer(now + 5)],
                // Spec: RFC 7519 §2, NumericDate.
                ["nbf": .double(Double(now) - 0.5), "exp": .double(Double(now) + 9.5)],
                ["iat": .double(Double(now) - 0.5)],
                ["max_age": 10000], ["max_age": "10000"], ["resource": []],
                ["claims": ["id_token": ["auth_time": ["essential": true]]]],
            ]
            for other in others {
                let page = try await signer.get(try await signer.sign(other))
                #expect(page.status == 200 && page.request != nil, "\(other): \(page.reply)")
            }
            // A client authenticates by the same keys.
            let reply = try await signer.push(try await signer.sign(by: pss))
            #expect(reply.status == 201, "\(reply)")
        }
    }

    // Spec: RFC 9101 §4, §6.1, §6.2, §6.3, §10.8; RFC 8725 §3.11.
    @Test("What is not the client's, not for us, not for now, or no request gets a page, and no redirect")
    func refused() async throws {
        try await SignInPageScene.with { scene in
            let pss = try PSSKey()
            let signer = try await Signer(scene, others: [JWK(pss.jwsPublicKey)])
            let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
            let other: JSONValue = "cli_00000000000000000000000000"
            let issuer = "\(scene.server.issuer)"
            let lies: [([String: JSONValue?], String)] = [
                (["client_id": nil], "client_id"), (["client_id": other], "client_id"), (["iss": nil], "iss"),
                (["iss": other], "iss"), (["aud": nil], "aud"), (["aud": .string("\(issuer)/")], "aud"),
                (["aud": ["https://other.example.com"]], "aud"),
                (["aud": .string("\(issuer)/oauth2/authorize")], "aud"),
                (["sub": .string(id)], "sub"), (["request": "x"], "further"), (["request_uri": "x"], "further"),
                (["nbf": .double(1e300)], "nbf"), (["exp": .double(Double(now) + 0.5)], "exp"),
                (["nbf": nil], "nbf"), (["nbf": "now"], "nbf"), (["nbf": .integer(now + 120)], "nbf"),
                (["exp": nil], "exp"), (["exp": .integer(now - 1)], "exp"), (["exp": .integer(.max)], "exp"),
                (["exp": .integer(now + 3700)], "exp"), (["nbf": .integer(now - 3400)], "exp"),
                (["nbf": .integer(.min)], "exp"), (["exp": .integer(.min)], "exp"),
                (["state": true], "state"), (["scope": ["openid"]], "scope"), (["nonce": .null], "nonce"),
            ]
            for (lie, why) in lies {
                let page = try await signer.get(try await signer.sign(lie))
                self.expectRefused(page, "\(lie)")
                #expect(page.html.contains(why), "\(lie): \(page.html)")
            }
            let stranger = P256.Signing.PrivateKey()
            let name = signer.key.jwsPublicKey.thumbprint
            let good = try await signer.sign()
            let parts = good.split(separator: ".").map(String.init)
            let unsigned = "eyJhbGciOiJub25lIn0.\(parts[1])."
            let changed = Base64URL.encode(signer.claims(["scope": "openid offline_access"]).encoded)
            let texts = [
                "stranger": try await signer.sign(by: stranger),
                "named": try await signer.sign(by: stranger, keyID: name),
                "another key's name": try await signer.sign(by: pss, keyID: name), "none": unsigned,
                "at+jwt": try await signer.sign(type: "at+jwt"),
                "assertion": try await signer.sign(type: "client-authentication+jwt"),
                "changed": "\(parts[0]).\(changed).\(parts[2])", "no signature": "\(parts[0]).\(parts[1]).",
                "encrypted": "\(parts[0]).\(parts[1]).AAAA.AAAA.AAAA", "text": "x", "two parts": "a.b",
            ]
            for (what, text) in texts { self.expectRefused(try await signer.get(text), what) }
        }
    }

    // Spec: RFC 6749 §4.1.2.1; RFC 9101 §6.3.
    @Test("What the client has signed is checked like any other request")
    func checked() async throws {
        try await SignInPageScene.with { scene in
            let signer = try await Signer(scene)
            let wrong: [([String: JSONValue?], String)] = [
                (["scope": "calendar"], "invalid_scope"), (["response_type": "token"], "unsupported_response_type"),
                (["code_challenge_method": "plain"], "invalid_request"), (["max_age": .integer(-1)], "invalid_request"),
                (["prompt": "none"], "login_required"),
            ]
            for (changes, error) in wrong {
                let page = try await signer.get(try await signer.sign(changes))
                #expect(page.result["error"] == error && page.result["state"] == "s-1", "\(changes): \(page.reply)")
            }
            let evil = try await signer.get(try await signer.sign(["redirect_uri": "https://evil.example/"]))
            #expect(evil.status == 400 && evil.location == nil && evil.html.contains("redirect_uri"), "\(evil.reply)")
        }
    }

    // Spec: RFC 9126 §3; RFC 9101 §10.8.
    @Test("It can be pushed, and is refused in JSON; it is no assertion, and an assertion is none")
    func pushed() async throws {
        try await SignInPageScene.with { scene in
            let signer = try await Signer(scene)
            _ = try await scene.signIn()
            let object = try await signer.sign()
            let reply = try await signer.push(object)
            #expect(reply.status == 201, "\(reply)")
            let uri = try #require(reply.json["request_uri"]?.string)
            let given = try await scene.browser.get(scene.link(to: uri))
            #expect(given.result["code"] != nil && given.result["state"] == "s-1", "\(given.reply)")
            for lie in [["client_id": "cli_00000000000000000000000000"], ["exp": 1]] as [[String: JSONValue?]] {
                let refused = try await signer.push(try await signer.sign(lie))
                #expect(refused.status == 400 && refused.json["error"] == "invalid_request_object", "\(refused)")
            }
            let scope = try await signer.push(try await signer.sign(["scope": "calendar"]))
            #expect(scope.status == 400 && scope.json["error"] == "invalid_scope", "\(scope)")
            let passedOff = try await signer.push(nil, assertion: try await signer.sign(["jti": "1"], type: nil))
            #expect(passedOff.status == 401 && passedOff.json["error"] == "invalid_client", "\(passedOff)")
            let id = JSONValue.string(scene.credential.id)
            let assertion = try await signer.sign(["sub": id, "jti": "2"], type: nil)
            self.expectRefused(try await signer.get(assertion), "assertion")
        }
    }

    // Spec: RFC 9101 §5; OpenID Connect Core 1.0 §6.1.
    @Test("request and request_uri do not come together, and a client without keys signs nothing")
    func together() async throws {
        try await SignInPageScene.with { scene in
            let unsigned = try await scene.browser.get(scene.request(["request": "e30.e30."]))
            #expect(unsigned.result["error"] == "request_not_supported", "\(unsigned.reply)")
            let pushed = try await scene.push(["request": "e30.e30."])
            #expect(pushed.status == 400 && pushed.json["error"] == "request_not_supported", "\(pushed)")
            let signer = try await Signer(scene)
            let both = try await scene.browser.get(
                scene.request(["request": try await signer.sign(), "request_uri": "https://shop.example.com/r"]))
            #expect(both.result["error"] == "invalid_request" && both.result["state"] == "s-1", "\(both.reply)")
        }
    }

    // Spec: RFC 9101 §10.5.
    @Test("A client that must sign has no other requests, pushed or not, and needs keys for it")
    func required() async throws {
        try await SignInPageScene.with { scene in
            let name = "require_signed_request_object"
            let path = "/v1/admin/clients/\(scene.credential.id)/openid"
            let keyless: JSONValue = [
                "profile": "web", "redirect_uris": [.string(SignInPageScene.redirectURI)], name: true,
            ]
            expectRefusal(
                try await scene.scene.administrator.call(.PUT, path, keyless), 422, "invalid_member", at: "/\(name)")
            let signer = try await Signer(scene, [name: true])
            #expect(try await scene.scene.administrator.call(.GET, path).success()[name] == true)
            let plain = try await scene.browser.get(scene.request())
            #expect(plain.result["error"] == "invalid_request" && plain.result["state"] == "s-1", "\(plain.reply)")
            let pushed = try await signer.push(nil)
            #expect(pushed.status == 400 && pushed.json["error"] == "invalid_request", "\(pushed)")
            #expect(try await signer.get(try await signer.sign()).request != nil)
            let reply = try await signer.push(try await signer.sign())
            let uri = try #require(reply.json["request_uri"]?.string, "\(reply)")
            #expect(try await scene.browser.get(scene.link(to: uri)).request != nil)
            let metadata = try await scene.server.send(
                .GET, "/.well-known/openid-configuration", isContract: false
            ).json
            #expect(metadata[name] == false && metadata["request_parameter_supported"] == true)
            #expect(metadata["request_uri_parameter_supported"] == false)
            let algorithms = metadata["request_object_signing_alg_values_supported"]?.array?.compactMap(\.string)
            #expect(algorithms == ["ES256", "PS256", "RS256", "EdDSA"])
            // The key that signed is gone.
            let object = try await signer.sign()
            _ = try await Signer(scene)
            self.expectRefused(try await scene.browser.get(signer.link(object)), "former key")
        }
    }

    // Spec: OpenID Connect Core 1.0 §10.1.1.
    @Test("A key that the client publishes verifies its requests, too")
    func published() async throws {
        try await SignInPageScene.with { scene in
            let signer = try await Signer(scene)
            let object = try await signer.sign()
            try await LocalServer.with(answering: JWKSet([JWK(signer.key.publicKey)]).json) { url in
                try await scene.set(["asked_browsers": "all", "jwks_uri": .string("\(url)/keys")])
                #expect(try await signer.get(object).request != nil)
                let forged = try await signer.sign(by: P256.Signing.PrivateKey())
                self.expectRefused(try await signer.get(forged), "stranger")
            }
        }
    }
}
