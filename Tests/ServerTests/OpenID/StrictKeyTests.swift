import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: FAPI 2.0 Security Profile §5.3.2.1, §5.4.1, §5.4.2, §5.4.3.
@Suite("Keys of clients of the profile strict, and what they sign")
struct StrictKeyTests {
    // Modules: ensure-signed-client-assertion-with-RS256-fails,
    // -ensure-request-object-signature-algorithm-is-RS256-fails
    @Test(
        """
        fapi2-security-profile-final-ensure-signed-client-assertion-with-RS256-fails, \
        fapi-ciba-id1-ensure-request-object-signature-algorithm-is-RS256-fails: by the key that is registered for PS256
        """)
    func reusedForRS256() async throws {
        let pss = try PSSKey()
        try await StrictScene.with(others: [JWK(pss.jwsPublicKey)]) { strict in
            // Both have the same name, which is that of the key.
            #expect(pss.jwsPublicKey.thumbprint == pss.key.jwsPublicKey.thumbprint)
            let pushed = try await strict.push(assertion: try await strict.assertion(by: pss.key))
            expectError(pushed, 401, "invalid_client")
            #expect(try await strict.push(assertion: try await strict.assertion(by: pss)).status == 201)
            let fields = strict.redeemFields(try await strict.code())
            func redeem(by signer: any JWSSigningKey) async throws -> Reply {
                let assertion = try await strict.assertion(by: signer)
                return try await strict.send("/oauth2/token", fields, assertion: assertion, by: strict.key)
            }
            expectError(try await redeem(by: pss.key), 401, "invalid_client")
            #expect(try await redeem(by: pss).status == 200)
            // The same of what a bank's server signs.
            let settings: JSONObject = [
                "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
                "backchannel_authentication_request_signing_alg": "PS256",
            ]
            try await strict.scene.set(strict.settings(settings, others: [JWK(pss.jwsPublicKey)]))
            func ask(by signer: any JWSSigningKey) async throws -> Reply {
                let now = strict.scene.server.clock.now.seconds
                let request = try await strict.assertion(
                    [
                        "sub": nil, "nbf": .integer(now), "exp": .integer(now + 60), "scope": "openid",
                        "login_hint": "customer-1@example.com",
                    ], by: signer)
                return try await strict.send(OAuthDoor.backchannelPath, [("request", request)])
            }
            expectError(try await ask(by: pss.key), 400, "invalid_request")
            let begun = try await ask(by: pss)
            #expect(begun.status == 200, "\(begun)")
        }
    }

    @Test("FAPI 2.0 Security Profile §5.4.3: two keys of one name are refused where set, and none where published")
    func duplicateNames() async throws {
        try await StrictScene.with { strict in
            let name = strict.signer.jwsPublicKey.thumbprint
            let path = "/v1/admin/clients/\(strict.scene.credential.id)/openid"
            let others: [JWSPublicKey] = [
                .p256(P256.Signing.PrivateKey().publicKey), .ed25519(Curve25519.Signing.PrivateKey().publicKey),
            ]
            for other in others {
                let twice = JWKSet([JWK(strict.signer.publicKey), JWK(other, keyID: name)]).json
                let refused = try await strict.scene.scene.administrator.call(
                    .PUT, path, .object(strict.settings(["jwks": twice])))
                expectRefusal(refused, 422, "invalid_member", at: "/jwks")
                try await LocalServer.with(answering: twice) { url in
                    try await strict.scene.set(Self.publishing(at: url, strict))
                    expectError(try await strict.push(), 401, "invalid_client")
                }
            }
            try await LocalServer.with(answering: JWKSet([JWK(strict.signer.publicKey)]).json) { url in
                try await strict.scene.set(Self.publishing(at: url, strict))
                #expect(try await strict.push().status == 201)
            }
        }
    }

    private static func publishing(at url: String, _ strict: StrictScene) -> JSONObject {
        var settings = strict.settings()
        settings["jwks"] = nil
        settings["jwks_uri"] = .string("\(url)/keys")
        return settings
    }

    @Test("FAPI 2.0 Security Profile §5.4.2: the provider's own keys have a name each, and lead nowhere")
    func ownKeys() async throws {
        try await StrictScene.with { strict in
            let keys = try await strict.scene.server.send(.GET, "/oauth2/jwks", isContract: false)
            let elements = try #require(keys.json["keys"]?.array)
            let keyIDs = elements.compactMap { $0["kid"]?.string }
            #expect(!elements.isEmpty && Set(keyIDs).count == elements.count, "\(keyIDs)")
            for element in elements { #expect(element["x5u"] == nil && element["jku"] == nil, "\(element)") }
            let token = try #require(try await strict.redeem(try await strict.code()).success()["id_token"]?.string)
            let names = try StrictScene.header(of: token).object?.members.map(\.name).sorted()
            #expect(names == ["alg", "kid", "typ"])
        }
    }

    @Test("FAPI 2.0 Security Profile §5.3.2.1: a pushed request object may begin ten seconds ahead, and not a minute")
    func requestTimes() async throws {
        try await StrictScene.with { strict in
            let now = strict.scene.server.clock.now.seconds
            func push(_ changes: [String: JSONValue]) async throws -> Reply {
                var claims: JSONObject = [
                    "iss": .string(strict.scene.credential.id), "aud": .string(strict.issuer), "nbf": .integer(now),
                    "exp": .integer(now + 300),
                ]
                for (name, value) in strict.parameters() { claims[name] = .string(value) }
                for (name, value) in changes { claims[name] = value }
                let object = try await JWS.sign(
                    JSONValue.object(claims).encoded, type: "oauth-authz-req+jwt", by: strict.signer,
                    keyID: strict.signer.jwsPublicKey.thumbprint)
                return try await strict.send("/oauth2/par", strict.scene.id + [("request", object)])
            }
            let accepted: [[String: JSONValue]] = [
                [:], ["nbf": .integer(now + 8)], ["nbf": .integer(now + 10)], ["iat": .integer(now)],
                ["iat": .integer(now + 8)], ["iat": .integer(now + 10)],
            ]
            for claims in accepted {
                let reply = try await push(claims)
                #expect(reply.status == 201, "\(claims): \(reply)")
            }
            let refused: [[String: JSONValue]] = [
                ["nbf": .integer(now + 61)], ["iat": .integer(now + 61)], ["iat": "now"], ["exp": .integer(now)],
            ]
            for claims in refused {
                let reply = try await push(claims)
                #expect(
                    reply.status == 400 && reply.json["error"] == "invalid_request_object", "\(claims): \(reply)")
            }
        }
    }
}
