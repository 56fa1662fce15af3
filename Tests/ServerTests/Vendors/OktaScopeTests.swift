import Encodings
import ServerTestSupport
import Testing

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
            let given = try await scene.signIn("anna")
            #expect(given["scope"] == "openid")
        }
    }
}
