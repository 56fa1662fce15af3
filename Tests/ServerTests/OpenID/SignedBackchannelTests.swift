import CountersignWire
import Crypto
import Encodings
import JOSE
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: CIBA Core 1.0 §7.1.1.
@Suite(
    "Backchannel requests that clients sign, by the modules of the FAPI-CIBA certification",
    .timeLimit(.minutes(15)))
struct SignedBackchannelTests {
    // Modules: -ensure-authorization-request-with-binding-message-succeeds
    @Test(
        "fapi-ciba-id1, -ensure-authorization-request-with-binding-message-succeeds: tokens for a signed request",
        arguments: AskingBank.Kind.allCases)
    func signed(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let begun = try await bank.ask()
            #expect(begun.status == 200, "\(begun)")
            let question = try await bank.scene.scene.phone.open(try await bank.scene.pending()).question
            #expect(question.message.text == "W4SCT")
            try await bank.scene.approve(begun)
            let tokens = try await bank.poll(begun)
            #expect(tokens.status == 200 && tokens.json["id_token"] != nil, "\(tokens)")
        }
    }

    // Modules: -ensure-other-scope-order-succeeds, -ensure-requested-expiry-as-string-succeeds
    @Test(
        """
        fapi-ciba-id1-ensure-requested-expiry-as-string-succeeds, -ensure-other-scope-order-succeeds, and other forms \
        of the same
        """, arguments: AskingBank.Kind.allCases)
    func accepted(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            for expiry in ["30", 30] as [JSONValue] {
                let begun = try await bank.ask(["requested_expiry": expiry])
                #expect(begun.status == 200 && begun.json["expires_in"] == 30, "\(begun)")
            }
            let now = bank.scene.server.clock.now.seconds
            let others: [[String: JSONValue?]] = [
                ["scope": "email openid"], ["aud": [.string(bank.strict.issuer), "https://other.example.com"]],
                ["unknown": true], ["acr_values": "urn:countersign:acr:device"], ["binding_message": nil],
                ["nbf": .integer(now - 3000), "exp": .integer(now + 500)],
            ]
            for other in others {
                let begun = try await bank.ask(other)
                #expect(begun.status == 200, "\(other): \(begun)")
            }
            let typed = try await bank.sign(type: "oauth-authz-req+jwt")
            #expect(try await bank.send(AskingBank.path, [("request", typed)]).status == 200)
        }
    }

    // Modules: -ensure-client-assertion-with-iss-aud-to-token-endpoint-succeeds
    // Spec: CIBA Core 1.0 §7.1.
    @Test(
        """
        fapi-ciba-id1-ensure-client-assertion-with-iss-aud-to-token-endpoint-succeeds: an assertion is for the issuer \
        or for an endpoint
        """)
    func audiences() async throws {
        try await AskingBank.with(.suite) { bank in
            let issuer = bank.strict.issuer
            let begun = try await bank.ask()
            for path in ["", "/oauth2/token"] {
                bank.scene.server.clock.advance(seconds: 5)
                let assertion = try await bank.assertion(["aud": .string("\(issuer)\(path)")])
                let polled = try await bank.send("/oauth2/token", try bank.pollFields(begun), assertion: assertion)
                expectOAuthError(polled, "authorization_pending")
            }
            for path in ["", "/oauth2/token", AskingBank.path] {
                let assertion = try await bank.assertion(["aud": .string("\(issuer)\(path)")])
                let asked = try await bank.send(
                    AskingBank.path, [("request", try await bank.sign())], assertion: assertion)
                #expect(asked.status == 200, "\(path): \(asked)")
            }
        }
    }

    // Modules: -ensure-request-object-missing-aud-fails, -ensure-request-object-bad-aud-fails,
    // -ensure-request-object-missing-iss-fails, -ensure-request-object-bad-iss-fails,
    // -ensure-request-object-missing-exp-fails, -ensure-request-object-expired-exp-fails,
    // -ensure-request-object-exp-is-70-minutes-in-future-fails, -ensure-request-object-missing-iat-fails,
    // -ensure-request-object-missing-nbf-fails, -ensure-request-object-nbf-is-10-minutes-in-future-fails,
    // -ensure-request-object-nbf-is-70-minutes-in-past-fails, -ensure-request-object-missing-jti-fails,
    // -ensure-request-object-signature-algorithm-is-none-fails,
    // -ensure-request-object-signature-algorithm-is-bad-fails,
    // -ensure-request-object-signature-algorithm-is-RS256-fails, -ensure-request-object-signed-by-other-client-fails
    @Test(
        "fapi-ciba-id1-ensure-request-object-*-fails: what is not the client's, not for us, or not for now",
        arguments: AskingBank.Kind.allCases)
    func refused(_ kind: AskingBank.Kind) async throws {
        let rsa = try RSAPrivateKey()
        try await AskingBank.with(kind, others: [JWK(rsa.jwsPublicKey)]) { bank in
            let (id, now) = (bank.scene.credential.id, bank.scene.server.clock.now.seconds)
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
            for (what, lie) in lies { Self.expectRefusal(of: what, try await bank.ask(lie)) }
            let stranger = P256.Signing.PrivateKey()
            let good = try await bank.sign()
            let parts = good.split(separator: ".").map(String.init)
            let texts = [
                "signature-algorithm-is-none": "eyJhbGciOiJub25lIn0.\(parts[1]).",
                "signature-algorithm-is-bad": "\(parts[0]).\(parts[1]).AAAA",
                "signature-algorithm-is-RS256": try await bank.sign(by: rsa),
                "signed-by-other-client": try await bank.sign(by: stranger),
                "named": try await bank.sign(by: stranger, keyID: bank.strict.signer.jwsPublicKey.thumbprint),
                "another type": try await bank.sign(type: "client-authentication+jwt"), "text": "x",
            ]
            for (what, text) in texts {
                Self.expectRefusal(of: what, try await bank.send(AskingBank.path, [("request", text)]))
            }
            #expect(try await bank.send(AskingBank.path, [("request", good)]).status == 200)
        }
    }

    private static func expectRefusal(
        of what: String, _ reply: Reply, location: SourceLocation = #_sourceLocation
    ) {
        #expect(reply.status == 400, "\(what)", sourceLocation: location)
        expectOAuthError(reply, "invalid_request", at: location)
    }

    // Modules: -ensure-unsigned-backchannel-authorization-request-fails
    @Test(
        "fapi-ciba-id1-ensure-unsigned-backchannel-authorization-request-fails", arguments: AskingBank.Kind.allCases)
    func unsigned(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let fields = [("scope", "openid"), ("login_hint", "customer-1@example.com")]
            expectOAuthError(try await bank.send(AskingBank.path, fields), "invalid_request")
            // A strict client must sign.
            guard kind == .suite else { return }
            // And the other way round: who has registered no algorithm signs nothing.
            var settings = bank.settings()
            settings["backchannel_authentication_request_signing_alg"] = nil
            try await bank.scene.set(settings)
            expectOAuthError(try await bank.ask(), "invalid_request")
            let begun = try await bank.send(AskingBank.path, fields)
            #expect(begun.status == 200, "\(begun)")
        }
    }

    @Test("CIBA Core 1.0 §7.1.1: no parameter stands beside a signed request", arguments: AskingBank.Kind.allCases)
    func outside(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let others = [
                ("scope", "openid"), ("login_hint", "x"), ("binding_message", "x"), ("requested_expiry", "5"),
                ("client_notification_token", "x"), ("acr_values", "x"), ("request_context", "{}"),
                ("resource", "https://orders.example.com/"),
            ]
            for other in others {
                let reply = try await bank.send(AskingBank.path, [("request", try await bank.sign()), other])
                Self.expectRefusal(of: other.0, reply)
            }
        }
    }

    @Test("A signed request is good once, and what was refused is not spent", arguments: AskingBank.Kind.allCases)
    func once(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            func send(_ request: String) async throws -> Reply {
                try await bank.send(AskingBank.path, [("request", request)])
            }
            let request = try await bank.sign()
            #expect(try await send(request).status == 200)
            expectOAuthError(try await send(request), "invalid_request")
            expectOAuthError(try await bank.ask(["jti": "one", "scope": "calendar"]), "invalid_scope")
            #expect(try await bank.ask(["jti": "one"]).status == 200)
            let odd = try await bank.sign(["jti": "\u{0}"])
            #expect(try await send(odd).status == 200)
            expectOAuthError(try await send(odd), "invalid_request")
        }
    }

    // Modules: -ensure-authorization-request-with-multiple-hints-fails
    // Spec: CIBA Core 1.0 §7.1.
    @Test(
        "fapi-ciba-id1-ensure-authorization-request-with-multiple-hints-fails", arguments: AskingBank.Kind.allCases)
    func multipleHints(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            for others in [["id_token_hint": "x"], ["login_hint_token": "x"]] as [[String: JSONValue?]] {
                expectOAuthError(try await bank.ask(others), "invalid_request")
            }
        }
    }

    // Modules: -ensure-without-client-assertion-in-token-endpoint-request,
    // -ensure-without-client-assertion-in-backchannel-authorization-request
    @Test(
        """
        fapi-ciba-id1-ensure-without-client-assertion-in-*-fails, and an assertion by another key; without the \
        certificate, and with another one
        """, arguments: AskingBank.Kind.allCases)
    func assertions(_ kind: AskingBank.Kind) async throws {
        try await AskingBank.with(kind) { bank in
            let begun = try await bank.ask()
            let forms = [
                (AskingBank.path, [("request", try await bank.sign())]),
                ("/oauth2/token", try bank.pollFields(begun)),
            ]
            for (path, fields) in forms {
                let unproved = try await bank.scene.token(fields + bank.scene.id, at: path)
                expectOAuthError(unproved, "invalid_client", 401)
                let forged =
                    if kind == .certificate {
                        try await bank.scene.send(
                            fields + bank.scene.id, with: try TestCertificate(named: "other"), at: path)
                    } else {
                        try await bank.send(
                            path, fields, assertion: try await bank.assertion(by: P256.Signing.PrivateKey()))
                    }
                expectOAuthError(forged, "invalid_client", 401)
            }
            expectOAuthError(try await bank.poll(begun), "authorization_pending")
        }
    }
}
