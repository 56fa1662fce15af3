import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Okta: what an app asks before it enrolls")
struct OktaDiscoveryTests {
    @Test("The organization has one id, which the policy and every challenge repeat")
    func organization() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let reply = try await phone.call(.GET, "/.well-known/okta-organization", by: .some(nil)).success()
            #expect(reply["id"] == .string(scene.server.issuer.organizationID))
            #expect(reply["_links"]?["organization"]?["href"] == .string("\(scene.server.issuer)"))
            _ = try await scene.ask(phone)
            let asked = try #require(try await phone.pending().first)
            #expect(try OktaPhone.claims(asked)["orgId"] == reply["id"])
        }
    }

    @Test("The policy has the SDK's words and no others, for the client of the token alone")
    func policy() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.makePhone()
            let path = "/.well-known/app-authenticator-configuration"
            let list = try await phone.call(.GET, "\(path)?oauthClientId=\(scene.client)").success()
            let policy = try #require(list.array?.first?.object)
            #expect(list.array?.count == 1)
            #expect(
                policy.members.map(\.name) == [
                    "authenticatorId", "orgId", "key", "name", "created", "lastUpdated", "settings", "supportedMethods",
                    "appAuthenticatorEnrollEndpoint",
                ])
            #expect(policy["authenticatorId"] == .string(scene.client) && policy["key"] == "custom_app")
            #expect(policy["settings"]?["userVerification"] == "PREFERRED")
            #expect(
                policy["supportedMethods"] == [
                    [
                        "type": "push", "status": "ACTIVE",
                        "settings": [
                            "keyProtection": "ANY", "algorithms": ["ES256", "RS256"],
                            "transactionTypes": ["LOGIN", "CIBA"],
                        ],
                    ]
                ])
            #expect(policy["appAuthenticatorEnrollEndpoint"] == .string(scene.server.issuer.uri(OktaScene.path)))
            let other = try await scene.server.makeClient("Other", ["vendors": ["okta"]])
            for query in ["", "?oauthClientId=", "?oauthClientId=\(other.clientID)"] {
                expectCode(try await phone.call(.GET, path + query), 400, "E0000001")
            }
        }
    }

    @Test("Every member of every key is a text: the SDK crashes at a list; and a key of RSA is among them")
    func keys() async throws {
        try await OktaScene.with { scene in
            let metadata = try await scene.server.send(
                .GET, "/.well-known/openid-configuration", isContract: false
            ).success()
            #expect(metadata["jwks_uri"] == .string(scene.server.issuer.uri("/oauth2/jwks")))
            let set = try await scene.server.send(.GET, "/oauth2/jwks", isContract: false).success()
            let keys = try #require(set["keys"]?.array).compactMap { $0.object }
            #expect(keys.contains { $0["kty"] == "RSA" && $0["kid"] != nil && $0["n"] != nil && $0["e"] == "AQAB" })
            for key in keys {
                for member in key.members { #expect(member.value.string != nil, "\(member.name)") }
            }
        }
    }
}
