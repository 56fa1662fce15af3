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
