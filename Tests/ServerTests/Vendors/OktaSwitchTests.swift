import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Okta's calls, for clients that an operator has let make them")
struct OktaSwitchTests {
    private static let organization = "/.well-known/okta-organization"

    @Test("While no client may make them, nothing is there; a client that may not gets E0000015 at every call")
    func off() async throws {
        try await OktaScene.with([]) { scene in
            let token = try #require(try await scene.signIn("anna", "openid enroll")["access_token"]?.string)
            var phone = OktaPhone(server: scene.server, client: scene.client, token: token)
            phone.enrollment = ("enr_01m7yfdvpt5prmr79m8dcgymep", "usr_01m7yfdvnpkhd3v12ptm49g5wv")
            expectCode(try await phone.call(.GET, Self.organization, by: .some(nil)), 404, "E0000007")
            let policy = "/.well-known/app-authenticator-configuration?oauthClientId=\(scene.client)"
            for (method, path) in [
                (.GET, policy), (.GET, OktaScene.path), (.DELETE, phone.path),
                (.GET, "\(phone.path)/push/notifications"),
            ] as [(HTTPMethod, String)] { expectCode(try await phone.call(method, path), 403, "E0000015") }
            expectCode(try await phone.enroll(), 403, "E0000015")
            expectCode(try await phone.patch(["pushToken": "aa"]), 403, "E0000015")
            let given = try await phone.maintain("a.b.c")
            #expect(given.status == 400 && given.json["error"] == "unauthorized_client", "\(given)")
            // Another vendor's does not help, and of several clients one is enough where none is named.
            try await scene.set(["cotter", "onewelcome"])
            expectCode(try await phone.call(.GET, Self.organization, by: .some(nil)), 404, "E0000007")
            let other = try await scene.server.makeClient("Other", ["vendors": ["okta"]])
            #expect(try await phone.call(.GET, Self.organization, by: .some(nil)).status == 200)
            expectCode(try await phone.call(.GET, OktaScene.path), 403, "E0000015")
            let path = "/v1/admin/clients/\(other.clientID)/disable"
            #expect(try await scene.administrator.call(.POST, path).status < 300)
            expectCode(try await phone.call(.GET, Self.organization, by: .some(nil)), 404, "E0000007")
        }
    }

    @Test("Without a good token every call is E0000011, whatever else is wrong; unknown paths delete no enrollment")
    func tokens() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.makePhone()
            for token in [nil, "a.b.c", "\(phone.token)x"] as [String?] {
                for (method, path) in [
                    (.GET, OktaScene.path), (.DELETE, "\(OktaScene.path)/nobody"),
                    (.GET, "\(OktaScene.path)/nobody/push/notifications"),
                    (.GET, "/.well-known/app-authenticator-configuration"),
                ] as [(HTTPMethod, String)] {
                    let reply = try await phone.call(method, path, by: .some(token))
                    expectCode(reply, 401, "E0000011")
                    #expect(reply.headers["www-authenticate"] == "Bearer error=\"invalid_token\"")
                }
            }
            for path in ["\(OktaScene.path)/nobody/push", "\(OktaScene.path)/nobody/push/notifications/x"] {
                expectCode(try await phone.call(.GET, path), 404, "E0000007")
            }
            let reply = try await phone.call(.PUT, OktaScene.path, [:])
            expectCode(reply, 405, "E0000022")
            #expect(reply.headers["allow"] == "GET, POST", "\(reply)")
            expectCode(try await phone.call(.GET, "\(OktaScene.path)?a=1&a=2"), 400, "E0000001")
        }
    }
}

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
            let keys = try #require(set["keys"]?.array?.compactMap(\.object))
            #expect(keys.contains { $0["kty"] == "RSA" && $0["kid"] != nil && $0["n"] != nil && $0["e"] == "AQAB" })
            for key in keys {
                for member in key.members { #expect(member.value.string != nil, "\(member.name)") }
            }
        }
    }
}

@Suite("Okta: the scopes of apps stand for ours")
struct OktaScopeTests {
    @Test("Managing is enroll, reading is openid, and a refresh may name them again")
    func translated() async throws {
        try await OktaScene.with { scene in
            let names = ["okta.authenticators.manage.self", "okta.myAccount.appAuthenticator.manage"]
            for (index, name) in names.enumerated() {
                #expect(try await scene.signIn("m\(index)", name)["scope"] == "enroll", "\(name)")
            }
            let reading = [
                "okta.authenticators.read", "okta.users.read.self", "okta.myAccount.appAuthenticator.read",
            ]
            for (index, name) in reading.enumerated() {
                #expect(try await scene.signIn("r\(index)", name)["scope"] == "openid", "\(name)")
            }
            #expect(try await scene.signIn("all")["scope"] == "openid enroll")
            let given = try await scene.signIn("off", "\(OktaScene.scopes) offline_access")
            let refresh = try #require(given["refresh_token"]?.string)
            let reply = try await scene.pages.token([
                ("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", scene.client),
                ("scope", OktaScene.scopes),
            ])
            #expect(try reply.success()["access_token"] != nil, "\(reply)")
        }
    }

    @Test("A client that may not make the calls gets nothing for the names")
    func off() async throws {
        try await OktaScene.with(["cotter"]) { scene in
            #expect(try await scene.signIn("anna")["scope"] == "openid")
        }
    }
}
