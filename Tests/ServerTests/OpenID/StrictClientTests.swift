import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: FAPI 2.0 Security Profile §5.3.2.1, §5.3.2.2, §5.4.1; RFC 9449 §10, §10.1.
@Suite("Clients of the profile strict: how they authenticate, and what they get at the token endpoint")
struct StrictClientTests {
    // Modules: ensure-signed-client-assertion-with-RS256-fails
    @Test("PS256, ES256 and EdDSA sign assertions; RS256 does not, and a secret is none here")
    func algorithms() async throws {
        let (pss, rsa, edwards) = (try PSSKey(), try RSAPrivateKey(), Curve25519.Signing.PrivateKey())
        let others = [JWK(pss.jwsPublicKey), JWK(rsa.jwsPublicKey), JWK(edwards.jwsPublicKey)]
        try await StrictScene.with(others: others) { strict in
            for key in [pss, edwards] as [any JWSSigningKey] {
                let reply = try await strict.push(assertion: try await strict.assertion(by: key))
                #expect(reply.status == 201, "\(reply)")
            }
            expectError(
                try await strict.push(assertion: try await strict.assertion(by: rsa)), 401, "invalid_client")
            // The same key is good for a client of another profile.
            try await strict.scene.set(strict.settings(["profile": "web"], others: others))
            #expect(try await strict.push(assertion: try await strict.assertion(by: rsa)).status == 201)
            try await strict.scene.set(strict.settings(others: others))
            let bySecret = try await strict.scene.token(
                strict.parameters(), basic: strict.scene.credential, at: "/oauth2/par")
            expectError(bySecret, 401, "invalid_client")
            expectError(try await strict.scene.token(strict.parameters(), at: "/oauth2/par"), 401, "invalid_client")
        }
    }

    // Modules: ensure-client-assertion-in-token-endpoint, ensure-client-assertion-with-exp-is-5-minutes-in-past-fails,
    // ensure-client-assertion-with-wrong-aud-fails, ensure-client-assertion-with-no-sub-fails,
    // par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted,
    // par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails, par-test-array-as-audience-fails,
    // par-test-par-endpoint-url-as-audience-fails, par-test-token-endpoint-url-as-audience-fails
    @Test("An assertion is for the issuer alone, names the client, and is neither over nor of the future")
    func assertions() async throws {
        try await StrictScene.with { strict in
            let (now, issuer) = (strict.scene.server.clock.now.seconds, strict.issuer)
            let accepted: [[String: JSONValue?]] = [[:], ["nbf": .integer(now + 8)], ["iat": .integer(now + 8)]]
            for claims in accepted {
                let reply = try await strict.push(assertion: try await strict.assertion(claims))
                #expect(reply.status == 201, "\(claims): \(reply)")
            }
            let refused: [[String: JSONValue?]] = [
                ["aud": .string("\(issuer)/oauth2/par")], ["aud": .string("\(issuer)/oauth2/token")],
                ["aud": [.string(issuer)]], ["aud": "https://other.example.com"], ["aud": nil], ["sub": nil],
                ["exp": .integer(now - 300)], ["nbf": .integer(now + 65)], ["iat": .integer(now + 65)],
            ]
            for claims in refused {
                expectError(
                    try await strict.push(assertion: try await strict.assertion(claims)), 401, "invalid_client")
            }
            let code = try await strict.code()
            for claims in refused {
                let reply = try await strict.send(
                    "/oauth2/token", strict.redeemFields(code), assertion: try await strict.assertion(claims),
                    by: strict.key)
                expectError(reply, 401, "invalid_client")
            }
            let unauthenticated = strict.redeemFields(code) + [("client_id", strict.scene.credential.id)]
            expectError(try await strict.key.send(.POST, "/oauth2/token", unauthenticated), 401, "invalid_client")
            #expect(try await strict.redeem(code).status == 200)
        }
    }

    // Modules: happy-flow, ensure-client-id-in-token-endpoint, ensure-authorization-code-is-bound-to-client
    @Test("A code is the client's, whoever else names themselves or their key")
    func otherClient() async throws {
        try await StrictScene.with { strict in
            let code = try await strict.code()
            let other = try await strict.scene.server.makeClient("Other").credential
            let named = strict.redeemFields(code) + [("client_id", other.id)]
            expectError(try await strict.send("/oauth2/token", named, by: strict.key), 401, "invalid_client")
            let settings: JSONValue = ["profile": "web", "redirect_uris": [.string(StrictScene.redirectURI)]]
            let set = try await strict.scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(other.id)/openid", settings)
            #expect(set.status == 200, "\(set)")
            let stolen = try await strict.scene.token(strict.redeemFields(code), basic: (other.id, other.secret))
            expectError(stolen, 400, "invalid_grant")
            #expect(try await strict.redeem(code).status == 200)
        }
    }

    // Modules: ensure-holder-of-key-required, refresh-token
    @Test("Without a proof there are no tokens, neither for a person nor for the client")
    func holderOfKey() async throws {
        try await StrictScene.with { strict in
            let code = try await strict.code(["scope": "openid offline_access"])
            expectError(try await strict.send("/oauth2/token", strict.redeemFields(code)), 400, "invalid_dpop_proof")
            let own = [("grant_type", "client_credentials")]
            expectError(try await strict.send("/oauth2/token", own), 400, "invalid_dpop_proof")
            let tokens = try await strict.redeem(code).success()
            let refresh = [("grant_type", "refresh_token"), ("refresh_token", tokens["refresh_token"]?.string ?? "")]
            expectError(try await strict.send("/oauth2/token", refresh), 400, "invalid_dpop_proof")
            for _ in 0..<2 {
                let again = try await strict.send("/oauth2/token", refresh, by: strict.key)
                #expect(again.status == 200 && again.json["token_type"] == "DPoP", "\(again)")
                #expect(again.json["refresh_token"] == tokens["refresh_token"], "\(again)")
            }
            let stolen = try await strict.key.send(
                .POST, "/oauth2/token", refresh + [("client_id", strict.scene.credential.id)])
            expectError(stolen, 401, "invalid_client")
        }
    }

    // Modules: attempt-reuse-authorization-code-after-one-second, ensure-token-endpoint-fails-with-expired-auth-code,
    // ensure-pkce-code-verifier-required, incorrect-pkce-code-verifier-rejected
    @Test("A code comes once, for a minute, and only with its verifier")
    func codes() async throws {
        try await StrictScene.with { strict in
            let code = try await strict.code()
            for verifier in [nil, "wrong-\(SignInPageScene.verifier)", ""] {
                let fields = strict.redeemFields(code, verifier: verifier)
                expectError(try await strict.send("/oauth2/token", fields, by: strict.key), 400, "invalid_grant")
            }
            let tokens = try await strict.redeem(code).success()
            let access = try #require(tokens["access_token"]?.string)
            #expect(try await strict.key.send(.GET, "/oauth2/userinfo", token: access).status == 200)
            strict.scene.server.clock.advance(seconds: 1)
            expectError(try await strict.redeem(code), 400, "invalid_grant")
            #expect(try await strict.key.send(.GET, "/oauth2/userinfo", token: access).status == 401)
            let late = try await strict.code()
            strict.scene.server.clock.advance(seconds: 60)
            expectError(try await strict.redeem(late), 400, "invalid_grant")
        }
    }

    // Modules: ensure-mismatched-dpop-jkt-fails, ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt,
    // ensure-token-endpoint-fails-with-mismatched-dpop-jkt, ensure-dpopproof-at-par-endpoint-binding-success,
    // ensure-dpop-auth-code-binding-success
    @Test("A proof or dpop_jkt with the pushed request binds the code to that key, and both name the same one")
    func boundCodes() async throws {
        try await StrictScene.with { strict in
            let thief = TestKey(strict.scene.server)
            let mismatched = try await strict.push(["dpop_jkt": thief.thumbprint], by: strict.key)
            expectError(mismatched, 400, "invalid_dpop_proof")
            let byProof = try await strict.code(by: strict.key)
            expectError(try await strict.redeem(byProof, by: thief), 400, "invalid_grant")
            #expect(try await strict.redeem(byProof).status == 200)
            let byName = try await strict.code(["dpop_jkt": strict.key.thumbprint])
            expectError(try await strict.redeem(byName, by: thief), 400, "invalid_grant")
            #expect(try await strict.redeem(byName).status == 200)
            let byBoth = try await strict.code(["dpop_jkt": strict.key.thumbprint], by: strict.key)
            #expect(try await strict.redeem(byBoth).status == 200)
        }
    }

    // Modules: ensure-dpopproof-with-iat-10seconds-before-succeeds
    @Test("A proof that was made ten seconds ago is taken")
    func earlierProof() async throws {
        try await StrictScene.with { strict in
            _ = try await strict.push(["response_type": nil], by: strict.key)
            let proof = try await strict.key.proof(.POST, "/oauth2/par")
            strict.scene.server.clock.advance(seconds: 10)
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            let fields =
                strict.parameters() + [
                    ("client_assertion_type", type), ("client_assertion", try await strict.assertion()),
                ]
            let reply = try await strict.scene.server.send(
                .POST, "/oauth2/par",
                headers: [("Content-Type", "application/x-www-form-urlencoded"), ("DPoP", proof)],
                body: Array(FormText.encoded(fields).utf8), isContract: false)
            #expect(reply.status == 201, "\(reply)")
        }
    }
}
