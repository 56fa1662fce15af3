import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: CIBA Core 1.0 §7.1.1.
@Suite("Backchannel requests that clients sign, by the modules of the FAPI-CIBA certification")
struct SignedBackchannelTests {
    /// A bank, which authenticates by a key and signs its requests.
    private struct Bank {
        static let path = "/oauth2/bc-authorize"

        let scene: SignInPageScene
        let key = P256.Signing.PrivateKey()

        init(_ scene: SignInPageScene, isSigning: Bool = true, others: [JWK] = []) async throws {
            self.scene = scene
            var settings: JSONObject = [
                "asked_browsers": "all", "jwks": JWKSet([JWK(key.publicKey)] + others).json,
                "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
            ]
            if isSigning {
                settings["backchannel_authentication_request_signing_alg"] = "ES256"
                settings["require_signed_request_object"] = true
            }
            try await scene.set(settings)
        }

        /// The claims of a good request, with changes; nil leaves a claim out.
        func claims(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
            let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
            var claims: JSONObject = [
                "iss": .string(id), "aud": .string("\(scene.server.issuer)"), "iat": .integer(now),
                "nbf": .integer(now), "exp": .integer(now + 300),
                "jti": .string("\(UInt64.random(in: 0...(.max)))"), "scope": "openid",
                "login_hint": "customer-1@example.com", "binding_message": "W4SCT",
            ]
            for (name, value) in changes { claims[name] = value }
            return .object(claims)
        }

        func sign(
            _ changes: [String: JSONValue?] = [:], by other: (any JWSSigningKey)? = nil, keyID: String? = nil,
            type: String? = nil
        ) async throws -> String {
            let signer = other ?? key
            return try await JWS.sign(
                claims(changes).encoded, type: type, by: signer, keyID: keyID ?? signer.jwsPublicKey.thumbprint)
        }

        /// By what the bank shows who it is.
        func assertion(
            at audience: String? = nil, by other: (any JWSSigningKey)? = nil
        ) async throws -> [(String, String)] {
            let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
            let claims: JSONValue = [
                "iss": .string(id), "sub": .string(id), "aud": .string(audience ?? "\(scene.server.issuer)"),
                "jti": .string("\(UInt64.random(in: 0...(.max)))"), "exp": .integer(now + 60),
            ]
            let signer = other ?? key
            let text = try await JWS.sign(
                claims.encoded, type: nil, by: signer, keyID: signer.jwsPublicKey.thumbprint)
            return [
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", text),
            ]
        }

        func ask(_ request: String?, _ more: [(String, String)] = []) async throws -> Reply {
            let fields = request.map { [("request", $0)] } ?? []
            return try await scene.token(fields + more + (try await assertion()), at: Self.path)
        }

        func poll(_ begun: Reply, _ authentication: [(String, String)]? = nil) async throws -> Reply {
            scene.server.clock.advance(seconds: 5)
            let id = try #require(begun.json["auth_req_id"]?.string, "\(begun)")
            let own = if let authentication { authentication } else { try await assertion() }
            return try await scene.token(
                [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", id)] + own)
        }
    }

    private static func expect(
        _ reply: Reply, _ what: String, _ error: String = "invalid_request", _ status: Int = 400,
        location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            reply.status == status && reply.json["error"] == .string(error), "\(what): \(reply)",
            sourceLocation: location)
    }

    @Test("fapi-ciba-id1, -ensure-authorization-request-with-binding-message-succeeds: tokens for a signed request")
    func signed() async throws {
        try await SignInPageScene.with { scene in
            let bank = try await Bank(scene)
            let begun = try await bank.ask(try await bank.sign())
            #expect(begun.status == 200, "\(begun)")
            let question = try await scene.scene.phone.open(try await scene.pending()).question
            #expect(question.message.text == "W4SCT")
            let number = try #require(begun.json["number"]?.string)
            let reply = try await scene.scene.approve((try await scene.pending(), number))
            #expect(reply.status == 200, "\(reply)")
            let tokens = try await bank.poll(begun)
            #expect(tokens.status == 200 && tokens.json["id_token"] != nil, "\(tokens)")
        }
    }

    @Test(
        """
        fapi-ciba-id1-ensure-requested-expiry-as-string-succeeds, -ensure-other-scope-order-succeeds, \
        -ensure-client-assertion-with-iss-aud-to-token-endpoint-succeeds, and other forms of the same
        """)
    func accepted() async throws {
        try await SignInPageScene.with { scene in
            let bank = try await Bank(scene)
            for expiry in ["30", 30] as [JSONValue] {
                let begun = try await bank.ask(try await bank.sign(["requested_expiry": expiry]))
                #expect(begun.status == 200 && begun.json["expires_in"] == 30, "\(begun)")
            }
            let issuer = JSONValue.string("\(scene.server.issuer)")
            let now = scene.server.clock.now.seconds
            let others: [[String: JSONValue?]] = [
                ["scope": "email openid"], ["aud": [issuer, "https://other.example.com"]], ["unknown": true],
                ["acr_values": "urn:countersign:acr:device"], ["binding_message": nil],
                ["nbf": .integer(now - 3000), "exp": .integer(now + 500)],
            ]
            for other in others {
                let begun = try await bank.ask(try await bank.sign(other))
                #expect(begun.status == 200, "\(other): \(begun)")
            }
            let typed = try await bank.ask(try await bank.sign(type: "oauth-authz-req+jwt"))
            #expect(typed.status == 200, "\(typed)")
            let begun = try await bank.ask(try await bank.sign())
            for audience in ["\(scene.server.issuer)", "\(scene.server.issuer)/oauth2/token"] {
                let reply = try await bank.poll(begun, try await bank.assertion(at: audience))
                Self.expect(reply, audience, "authorization_pending")
            }
            for path in ["", "/oauth2/token", Bank.path] {
                let own = try await bank.assertion(at: "\(scene.server.issuer)\(path)")
                let reply = try await scene.token([("request", try await bank.sign())] + own, at: Bank.path)
                #expect(reply.status == 200, "\(path): \(reply)")
            }
        }
    }

    @Test("fapi-ciba-id1-ensure-request-object-*-fails: what is not the client's, not for us, or not for now")
    func refused() async throws {
        try await SignInPageScene.with { scene in
            let rsa = try RSAPrivateKey()
            let bank = try await Bank(scene, others: [JWK(rsa.jwsPublicKey)])
            let (id, now) = (scene.credential.id, scene.server.clock.now.seconds)
            let other: JSONValue = "cli_00000000000000000000000000"
            let lies: [(String, [String: JSONValue?])] = [
                ("missing-aud", ["aud": nil]), ("bad-aud", ["aud": "https://other.example.com"]),
                ("missing-iss", ["iss": nil]), ("bad-iss", ["iss": other]), ("missing-exp", ["exp": nil]),
                ("expired-exp", ["exp": .integer(now - 1)]),
                ("exp-is-70-minutes-in-future", ["exp": .integer(now + 4200)]), ("missing-iat", ["iat": nil]),
                ("iat in the future", ["iat": .integer(now + 600)]), ("missing-nbf", ["nbf": nil]),
                ("nbf-is-10-minutes-in-future", ["nbf": .integer(now + 600), "exp": .integer(now + 900)]),
                ("nbf-is-70-minutes-in-past", ["nbf": .integer(now - 4200)]), ("missing-jti", ["jti": nil]),
                ("empty jti", ["jti": ""]), ("long jti", ["jti": .string(String(repeating: "j", count: 256))]),
                ("an assertion", ["sub": .string(id)]), ("a scope of another kind", ["scope": ["openid"]]),
            ]
            for (what, lie) in lies { Self.expect(try await bank.ask(try await bank.sign(lie)), what) }
            let stranger = P256.Signing.PrivateKey()
            let good = try await bank.sign()
            let parts = good.split(separator: ".").map(String.init)
            let texts = [
                "signature-algorithm-is-none": "eyJhbGciOiJub25lIn0.\(parts[1]).",
                "signature-algorithm-is-bad": "\(parts[0]).\(parts[1]).AAAA",
                "signature-algorithm-is-RS256": try await bank.sign(by: rsa),
                "signed-by-other-client": try await bank.sign(by: stranger),
                "named": try await bank.sign(by: stranger, keyID: bank.key.jwsPublicKey.thumbprint),
                "another type": try await bank.sign(type: "client-authentication+jwt"), "text": "x",
            ]
            for (what, text) in texts { Self.expect(try await bank.ask(text), what) }
            #expect(try await bank.ask(good).status == 200)
        }
    }

    @Test("fapi-ciba-id1-ensure-unsigned-backchannel-authorization-request-fails")
    func unsigned() async throws {
        try await SignInPageScene.with { scene in
            let bank = try await Bank(scene)
            Self.expect(
                try await bank.ask(nil, [("scope", "openid"), ("login_hint", "customer-1@example.com")]), "unsigned")
            // And the other way round: who has registered no algorithm signs nothing.
            let plain = try await Bank(scene, isSigning: false)
            Self.expect(try await plain.ask(try await plain.sign()), "signed")
            let begun = try await plain.ask(nil, [("scope", "openid"), ("login_hint", "customer-1@example.com")])
            #expect(begun.status == 200, "\(begun)")
        }
    }

    @Test("CIBA Core 1.0 §7.1.1: no parameter stands beside a signed request")
    func outside() async throws {
        try await SignInPageScene.with { scene in
            let bank = try await Bank(scene)
            let others = [
                ("scope", "openid"), ("login_hint", "x"), ("binding_message", "x"), ("requested_expiry", "5"),
                ("client_notification_token", "x"), ("acr_values", "x"), ("resource", "https://orders.example.com/"),
            ]
            for other in others { Self.expect(try await bank.ask(try await bank.sign(), [other]), other.0) }
        }
    }

    @Test("A signed request is good once, and what was refused is not spent")
    func once() async throws {
        try await SignInPageScene.with { scene in
            let bank = try await Bank(scene)
            let request = try await bank.sign()
            #expect(try await bank.ask(request).status == 200)
            Self.expect(try await bank.ask(request), "again")
            let refused = try await bank.sign(["jti": "one", "scope": "calendar"])
            Self.expect(try await bank.ask(refused), "scope", "invalid_scope")
            #expect(try await bank.ask(try await bank.sign(["jti": "one"])).status == 200)
            let odd = try await bank.sign(["jti": "\u{0}"])
            #expect(try await bank.ask(odd).status == 200)
            Self.expect(try await bank.ask(odd), "odd again")
        }
    }

    // Spec: CIBA Core 1.0 §7.1.
    @Test("fapi-ciba-id1-ensure-authorization-request-with-multiple-hints-fails")
    func multipleHints() async throws {
        try await SignInPageScene.with { scene in
            let bank = try await Bank(scene)
            for others in [["id_token_hint": "x"], ["login_hint_token": "x"]] as [[String: JSONValue?]] {
                Self.expect(try await bank.ask(try await bank.sign(others)), "\(others)")
            }
        }
    }

    @Test(
        """
        fapi-ciba-id1-ensure-without-client-assertion-in-*-fails, and one that is signed by another key
        """)
    func assertions() async throws {
        try await SignInPageScene.with { scene in
            let bank = try await Bank(scene)
            let none = try await scene.token(
                [("request", try await bank.sign()), ("client_id", scene.credential.id)], at: Bank.path)
            Self.expect(none, "none", "invalid_client", 401)
            let begun = try await bank.ask(try await bank.sign())
            let unproved = try await bank.poll(begun, [("client_id", scene.credential.id)])
            Self.expect(unproved, "none", "invalid_client", 401)
            let forged = try await bank.poll(begun, try await bank.assertion(by: P256.Signing.PrivateKey()))
            Self.expect(forged, "another key", "invalid_client", 401)
        }
    }
}
