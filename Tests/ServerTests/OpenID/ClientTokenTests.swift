import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 6749 §4.4, RFC 9068 §2.1 and §2.2; docs/decisions/0072-signing-in.md.
@Suite("Tokens that a client gets for itself")
struct ClientTokenTests {
    private func give(_ scene: SignInPageScene, scope: String? = nil) async throws -> Reply {
        let fields = [("grant_type", "client_credentials")] + (scope.map { [("scope", $0)] } ?? [])
        return try await scene.token(fields, basic: scene.credential)
    }

    private func caller(_ scene: SignInPageScene, scope: String? = nil) async throws -> (Caller, token: String) {
        let given = try await give(scene, scope: scope).success()
        let token = try #require(given["access_token"]?.string)
        return (scene.server.caller("Bearer \(token)"), token)
    }

    @Test("RFC 6749 §4.4.3: an access token and no refresh token, by which the client calls the API")
    func given() async throws {
        try await SignInPageScene.with { scene in
            let reply = try await give(scene)
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            #expect(reply.json["token_type"] == "Bearer" && reply.json["expires_in"] == 600)
            #expect(reply.json["scope"] == "challenges users enrollments")
            #expect(reply.json["refresh_token"] == nil && reply.json["id_token"] == nil)
            let (caller, token) = try await caller(scene)
            let asked = try await caller.ask(scene.scene.user)
            let id = try #require(asked["id"]?.string)
            #expect(try await scene.scene.shop.call(.GET, "/v1/challenges/\(id)").status == 200)
            let events = try await scene.scene.administrator.call(.GET, "/v1/admin/events?kind=challenge.asked")
                .success()
            #expect(events["events"]?.array?.last?["actor"] == .string("client:\(scene.credential.id)"))
            // RFC 7662 §2.2, RFC 9068 §2.2: the client is the subject.
            let active = try await scene.token([("token", token)], basic: scene.credential, at: "/oauth2/introspect")
                .json
            #expect(active["active"] == true && active["sub"] == .string(scene.credential.id))
            #expect(active["scope"] == "challenges enrollments users" && active["jti"]?.string?.isEmpty == false)
            // It is nobody's, so that it has no claims.
            #expect(try await scene.userinfo(token).status == 401)
        }
    }

    @Test("A token is for the rights that were asked for, and for none that the client has no longer")
    func scopes() async throws {
        try await SignInPageScene.with { scene in
            for scope in ["openid", "challenges admin", "offline_access", " "] {
                expectError(try await give(scene, scope: scope), 400, "invalid_scope")
            }
            let (caller, token) = try await caller(scene, scope: "challenges challenges")
            #expect(try await caller.ask(scene.scene.user)["id"] != nil)
            let refused = try await caller.call(.GET, "/v1/users/\(scene.scene.user)")
            #expect(refused.status == 403 && refused.code == "right_missing", "\(refused)")
            let admin = try await caller.call(.GET, "/v1/admin/clients")
            #expect(admin.status == 403 && admin.code == "right_missing", "\(admin)")
            let (users, _) = try await self.caller(scene, scope: "users")
            let export = try await users.call(.GET, "/v1/users/\(scene.scene.user)/export")
            #expect(export.status == 403 && export.code == "right_missing", "\(export)")
            let asked = try await users.call(
                .POST, "/v1/challenges", ["user": .string(scene.scene.user), "type": "payment"])
            #expect(asked.status == 403 && asked.code == "right_missing", "\(asked)")
            let rights: JSONValue = ["rights": ["enrollments"]]
            let changed = try await scene.scene.administrator.call(
                .PATCH, "/v1/admin/clients/\(scene.credential.id)", rights)
            #expect(changed.status == 200, "\(changed)")
            let lost = try await caller.call(
                .POST, "/v1/challenges", ["user": .string(scene.scene.user), "type": "payment"])
            #expect(lost.status == 403 && lost.code == "right_missing", "\(lost)")
            let told = try await scene.token([("token", token)], basic: scene.credential, at: "/oauth2/introspect")
            #expect(told.status == 200 && told.json == ["active": false], "\(told)")
            expectError(try await give(scene, scope: "challenges"), 400, "invalid_scope")
        }
    }

    @Test("A client without a secret, without the provider or disabled gets none, and the tokens of such do nothing")
    func gone() async throws {
        try await SignInPageScene.with { scene in
            let other = try await scene.server.makeClient("Other").credential
            let fields = [("grant_type", "client_credentials")]
            expectError(try await scene.token(fields, basic: other), 400, "unauthorized_client")
            expectError(try await scene.token(fields + [("client_id", scene.credential.id)]), 401, "invalid_client")
            let (caller, _) = try await caller(scene)
            let path = "/v1/users/\(scene.scene.user)"
            let client = "/v1/admin/clients/\(scene.credential.id)"
            let administrator = scene.scene.administrator
            #expect(try await administrator.call(.POST, "\(client)/disable").status < 300)
            let disabled = try await caller.call(.GET, path)
            #expect(disabled.status == 403 && disabled.code == "client_disabled", "\(disabled)")
            expectError(try await give(scene), 401, "invalid_client")
            #expect(try await administrator.call(.POST, "\(client)/enable").status < 300)
            #expect(try await caller.call(.GET, path).status == 200)
            try await scene.set(["profile": "native", "asked_browsers": "all"])
            expectError(try await scene.token(fields + [("client_id", scene.credential.id)]), 401, "invalid_client")
            #expect(try await administrator.call(.DELETE, "\(client)/openid").status == 204)
            let ended = try await caller.call(.GET, path)
            #expect(ended.status == 401 && ended.code == "unauthorized", "\(ended)")
        }
    }

    @Test("It ends after ten minutes, or when the client takes it back, whatever has become of the client")
    func revoked() async throws {
        try await SignInPageScene.with { scene in
            let (caller, token) = try await caller(scene)
            let path = "/v1/users/\(scene.scene.user)"
            let other = try await scene.server.makeClient("Other")
            let theirs = try await scene.token([("token", token)], basic: other.credential, at: "/oauth2/revoke")
            expectError(theirs, 400, "invalid_grant")
            let inactive = try await scene.token([("token", token)], basic: other.credential, at: "/oauth2/introspect")
            #expect(inactive.json["active"] == false)
            #expect(try await caller.call(.GET, path).status == 200)
            let openid = "/v1/admin/clients/\(scene.credential.id)/openid"
            #expect(try await scene.scene.administrator.call(.DELETE, openid).status == 204)
            let taken = try await scene.token([("token", token)], basic: scene.credential, at: "/oauth2/revoke")
            #expect(taken.status == 200, "\(taken)")
            try await scene.set(["asked_browsers": "all"])
            let refused = try await caller.call(.GET, path)
            #expect(refused.status == 401 && refused.code == "unauthorized", "\(refused)")
            // RFC 6750 §3.1: a program gets another one, however many come too late.
            for _ in 0..<30 {
                let again = try await caller.call(.GET, path)
                #expect(again.status == 401 && again.headers["www-authenticate"] == "Bearer error=\"invalid_token\"")
            }
            try await scene.server.clock.stopped { _ in
                let (late, _) = try await self.caller(scene)
                scene.server.clock.advance(seconds: 599)
                #expect(try await late.call(.GET, path).status == 200)
                scene.server.clock.advance(seconds: 1)
                #expect(try await late.call(.GET, path).status == 401)
            }
        }
    }

    @Test("A request that waits by a token ends with it")
    func waits() async throws {
        for end in ["revoked", "removed"] {
            try await SignInPageScene.with { scene in
                let (caller, token) = try await caller(scene)
                let id = try #require(try await caller.ask(scene.scene.user)["id"]?.string)
                async let waiting = caller.call(.GET, "/v1/challenges/\(id)?wait=20")
                // Nothing tells that it waits; if it did not yet, the test would say less, and nothing wrong.
                try await Task.sleep(for: .milliseconds(300))
                if end == "revoked" {
                    let taken = try await scene.token([("token", token)], basic: scene.credential, at: "/oauth2/revoke")
                    #expect(taken.status == 200, "\(taken)")
                } else {
                    let openid = "/v1/admin/clients/\(scene.credential.id)/openid"
                    #expect(try await scene.scene.administrator.call(.DELETE, openid).status == 204)
                }
                let waited = try await waiting
                #expect(waited.status == 401 && waited.code == "unauthorized", "\(end): \(waited)")
            }
        }
    }

    @Test("With the secret end the tokens that were got by it")
    func renewed() async throws {
        try await SignInPageScene.with { scene in
            let (caller, _) = try await caller(scene)
            let path = "/v1/users/\(scene.scene.user)"
            #expect(try await caller.call(.GET, path).status == 200)
            let renewed = try await scene.scene.administrator.call(
                .POST, "/v1/clients/\(scene.credential.id)/secret", ["overlap": 0])
            #expect(renewed.status == 201, "\(renewed)")
            let refused = try await caller.call(.GET, path)
            #expect(refused.status == 401 && refused.code == "unauthorized", "\(refused)")
        }
    }

    @Test("RFC 9068 §4: a user's access token opens nothing of the API, nor does one that we have not signed")
    func foreign() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let users = try #require(try await scene.redeem(code).json["access_token"]?.string)
            let (_, own) = try await caller(scene)
            let parts = own.split(separator: ".")
            let unsigned = "\(parts[0]).\(parts[1])."
            for token in [users, unsigned, "\(own)x", "a.b.c", "."] {
                let caller = scene.server.caller("Bearer \(token)")
                let reply = try await caller.call(.GET, "/v1/users/\(scene.scene.user)")
                #expect(reply.status == 401 && reply.code == "unauthorized", "\(token): \(reply)")
            }
        }
    }
}
