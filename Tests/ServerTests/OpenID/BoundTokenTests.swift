import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 9449 §5, §5.2, §6.2, §7.1, §7.2, §9; RFC 6750 §2.1.
@Suite("Tokens that are bound to a key, at the endpoints that take them")
struct BoundTokenTests {
    /// Sends a request with a token in these fields.
    private func show(
        _ authorization: String, _ proof: String?, _ method: HTTPMethod = .GET, _ path: String = "/oauth2/userinfo",
        at scene: SignInPageScene
    ) async throws -> Reply {
        try await scene.server.send(
            method, path, headers: [("Authorization", authorization)] + (proof.map { [("DPoP", $0)] } ?? []),
            isContract: !path.hasPrefix("/oauth2/"))
    }

    @Test("RFC 9449 §7.2: userinfo takes a bound token with its key alone, and says by which scheme not")
    func userinfo() async throws {
        try await SignInPageScene.with { scene in
            let (key, thief) = (TestKey(scene.server), TestKey(scene.server))
            let code = try #require(try await scene.signIn().result["code"])
            let tokens = try await key.send(
                .POST, "/oauth2/token", scene.redeemFields(code), headers: [scene.basic]
            ).success()
            let access = try #require(tokens["access_token"]?.string)
            let info = try await key.send(.GET, "/oauth2/userinfo", token: access)
            #expect(info.status == 200 && info.json["sub"] == .string(scene.scene.user), "\(info)")
            #expect(info.headers["dpop-nonce"]?.isEmpty == false)
            let posted = try await key.send(.POST, "/oauth2/userinfo", token: access)
            #expect(posted.status == 200, "\(posted)")
            // Whoever has copied it has no key.
            let bearer = try await scene.userinfo(access)
            expectError(bearer, 401, "invalid_token")
            #expect(bearer.headers["www-authenticate"]?.hasPrefix("Bearer error=\"invalid_token\"") == true)
            let form = try await scene.server.send(
                .POST, "/oauth2/userinfo", headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array("access_token=\(access)".utf8), isContract: false)
            expectError(form, 401, "invalid_token")
            let beside = try await show(
                "Bearer \(access)", try await key.proof(.GET, "/oauth2/userinfo", for: access), at: scene)
            expectError(beside, 401, "invalid_token")
            let other = try await thief.send(.GET, "/oauth2/userinfo", token: access)
            expectError(other, 401, "invalid_token")
            let challenge = try #require(other.headers["www-authenticate"])
            #expect(challenge.hasPrefix("DPoP error=\"invalid_token\""), "\(challenge)")
            #expect(challenge.hasSuffix("algs=\"ES256 EdDSA\""), "\(challenge)")
            expectError(try await show("DPoP \(access)", nil, at: scene), 401, "invalid_dpop_proof")
            let bare = try await show("DPoP \(access)", try await key.proof(.GET, "/oauth2/userinfo"), at: scene)
            expectError(bare, 401, "invalid_dpop_proof")
            #expect(bare.headers["www-authenticate"]?.hasPrefix("DPoP error=\"invalid_dpop_proof\"") == true)
            // A token that is bound to no key is none of this scheme.
            let unbound = try #require(
                try await scene.token([("grant_type", "client_credentials")], basic: scene.credential)
                    .json["access_token"]?.string)
            expectError(try await key.send(.GET, "/oauth2/userinfo", token: unbound), 401, "invalid_token")
        }
    }

    @Test("A proof at userinfo counts once")
    func userinfoOnce() async throws {
        try await SignInPageScene.with { scene in
            let key = TestKey(scene.server)
            let code = try #require(try await scene.signIn().result["code"])
            let tokens = try await key.send(
                .POST, "/oauth2/token", scene.redeemFields(code), headers: [scene.basic]
            ).success()
            let access = try #require(tokens["access_token"]?.string)
            let proof = try await key.proof(.GET, "/oauth2/userinfo", for: access)
            #expect(try await show("DPoP \(access)", proof, at: scene).status == 200)
            expectError(try await show("DPoP \(access)", proof, at: scene), 401, "invalid_dpop_proof")
            #expect(try await key.send(.GET, "/oauth2/userinfo", token: access).status == 200)
        }
    }

    @Test("RFC 9449 §9: our API takes a client's bound token with its key, and a proof of it once")
    func apiOnce() async throws {
        try await SignInPageScene.with { scene in
            let (key, thief) = (TestKey(scene.server), TestKey(scene.server))
            let given = try await key.send(
                .POST, "/oauth2/token", [("grant_type", "client_credentials")], headers: [scene.basic]
            ).success()
            #expect(given["token_type"] == "DPoP")
            let token = try #require(given["access_token"]?.string)
            let path = "/v1/users/\(scene.scene.user)"
            #expect(try await key.send(.GET, path, token: token).status == 200)
            #expect(try await key.send(.GET, "\(path)/methods", token: token).status == 200)
            let proof = try await key.proof(.GET, path, for: token)
            #expect(try await show("DPoP \(token)", proof, .GET, path, at: scene).status == 200)
            let again = try await show("DPoP \(token)", proof, .GET, path, at: scene)
            #expect(again.refusal == Refusal(401, "unauthorized"), "\(again)")
            #expect(
                again.headers["www-authenticate"] == "DPoP error=\"invalid_dpop_proof\", algs=\"ES256 EdDSA\"")
            let bearer = try await show("Bearer \(token)", nil, .GET, path, at: scene)
            #expect(bearer.refusal == Refusal(401, "unauthorized"))
            #expect(bearer.headers["www-authenticate"] == "Bearer error=\"invalid_token\"")
            let stolen = try await thief.send(.GET, path, token: token)
            #expect(stolen.refusal == Refusal(401, "unauthorized"))
            #expect(stolen.headers["www-authenticate"] == "DPoP error=\"invalid_token\", algs=\"ES256 EdDSA\"")
            let bare = try await show("DPoP \(token)", nil, .GET, path, at: scene)
            #expect(bare.refusal == Refusal(401, "unauthorized") && bare.headers["dpop-nonce"] == nil)
            let fresh = TestKey(scene.server)
            let nonce = try await show(
                "DPoP \(token)", try await fresh.proof(.GET, path, for: token), .GET, path, at: scene)
            #expect(nonce.refusal == Refusal(401, "unauthorized") && nonce.headers["dpop-nonce"]?.isEmpty == false)
            #expect(
                nonce.headers["www-authenticate"] == "DPoP error=\"use_dpop_nonce\", algs=\"ES256 EdDSA\"")
            // The bootstrap token is no token that a key could be proved for.
            let operatorToken = try await key.send(.GET, "/v1/admin/clients", token: scene.server.token)
            #expect(operatorToken.refusal == Refusal(401, "unauthorized"))
            // RFC 9449 §6.2.
            let state = try await scene.token(
                [("token", token)], basic: scene.credential, at: "/oauth2/introspect"
            ).json
            #expect(state["token_type"] == "DPoP" && state["cnf"] == ["jkt": .string(key.thumbprint)], "\(state)")
        }
    }

    @Test("A bound token gives a ticket with its key alone; introspection says its key")
    func ticket() async throws {
        try await SignInPageScene.with { scene in
            let (key, thief) = (TestKey(scene.server), TestKey(scene.server))
            let code = try #require(try await scene.signIn(["scope": "openid enroll"]).result["code"])
            let tokens = try await key.send(
                .POST, "/oauth2/token", scene.redeemFields(code), headers: [scene.basic]
            ).success()
            let access = try #require(tokens["access_token"]?.string)
            let path = "/v1/enrollment-tickets"
            let bearer = try await show("Bearer \(access)", nil, .POST, path, at: scene)
            #expect(bearer.refusal == Refusal(401, "unauthorized"))
            let stolen = try await thief.send(.POST, path, token: access)
            #expect(stolen.refusal == Refusal(401, "unauthorized"))
            #expect(try await key.send(.POST, path, token: access).status == 201)
            let proof = try await key.proof(.POST, path, for: access)
            let given = try await show("DPoP \(access)", proof, .POST, path, at: scene)
            #expect(given.status == 201, "\(given)")
            let again = try await show("DPoP \(access)", proof, .POST, path, at: scene)
            #expect(again.refusal == Refusal(401, "unauthorized"), "\(again)")
            let state = try await scene.token(
                [("token", access)], basic: scene.credential, at: "/oauth2/introspect"
            ).json
            #expect(state["token_type"] == "DPoP" && state["cnf"] == ["jkt": .string(key.thumbprint)], "\(state)")
        }
    }

    @Test("RFC 9449 §5.2: a client that is set to bind gets nothing without a proof, and the setting is told")
    func setting() async throws {
        try await SignInPageScene.with(["asked_browsers": "all", "dpop_bound_access_tokens": true]) { scene in
            let path = "/v1/admin/clients/\(scene.credential.id)/openid"
            let set = try await scene.scene.administrator.call(.GET, path).success()
            #expect(set["dpop_bound_access_tokens"] == true, "\(set)")
            let refused = try await scene.token([("grant_type", "client_credentials")], basic: scene.credential)
            expectError(refused, 400, "invalid_dpop_proof")
            let code = try #require(try await scene.signIn(["scope": "openid offline_access"]).result["code"])
            expectError(try await scene.redeem(code), 400, "invalid_dpop_proof")
            let key = TestKey(scene.server)
            let tokens = try await key.send(
                .POST, "/oauth2/token", scene.redeemFields(code), headers: [scene.basic]
            ).success()
            #expect(tokens["token_type"] == "DPoP", "\(tokens)")
            let fields = [
                ("grant_type", "refresh_token"), ("refresh_token", try #require(tokens["refresh_token"]?.string)),
            ]
            expectError(try await scene.token(fields, basic: scene.credential), 400, "invalid_dpop_proof")
            let next = try await key.send(.POST, "/oauth2/token", fields, headers: [scene.basic])
            #expect(next.status == 200 && next.json["token_type"] == "DPoP", "\(next)")
            try await scene.set(["asked_browsers": "all"])
            let unset = try await scene.scene.administrator.call(.GET, path).success()
            #expect(unset["dpop_bound_access_tokens"] == nil, "\(unset)")
        }
    }

    @Test("RFC 9449 §5: an app's refresh token is worth nothing with another key, and stays as it is")
    func app() async throws {
        try await SignInPageScene.with(["profile": "native", "asked_browsers": "all"]) { scene in
            let (key, thief) = (TestKey(scene.server), TestKey(scene.server))
            let id = [("client_id", scene.credential.id)]
            let code = try #require(try await scene.signIn(["scope": "openid offline_access"]).result["code"])
            let tokens = try await key.send(.POST, "/oauth2/token", scene.redeemFields(code) + id).success()
            let token = try #require(tokens["refresh_token"]?.string)
            let fields = [("grant_type", "refresh_token"), ("refresh_token", token)] + id
            expectError(try await scene.token(fields), 400, "invalid_grant")
            expectError(try await thief.send(.POST, "/oauth2/token", fields), 400, "invalid_grant")
            for _ in 0..<2 {
                let next = try await key.send(.POST, "/oauth2/token", fields)
                #expect(next.status == 200 && next.json["refresh_token"] == .string(token), "\(next)")
            }
        }
    }

    @Test("Scripts of a client's pages may send proofs, and read the nonce in replies and errors")
    func crossOrigin() async throws {
        let origin = "https://app.example.com"
        try await SignInPageScene.with([
            "asked_browsers": "all", "profile": "spa", "redirect_uris": [.string("\(origin)/callback")],
        ]) { scene in
            let key = TestKey(scene.server)
            let fields = [
                ("grant_type", "authorization_code"), ("code", "x"), ("client_id", scene.credential.id),
                ("redirect_uri", "\(origin)/callback"),
            ]
            let reply = try await scene.server.send(
                .POST, "/oauth2/token",
                headers: [
                    ("Origin", origin), ("Content-Type", "application/x-www-form-urlencoded"),
                    ("DPoP", try await key.proof(.POST, "/oauth2/token")),
                ], body: Array(FormText.encoded(fields).utf8), isContract: false)
            expectError(reply, 400, "use_dpop_nonce")
            #expect(reply.headers["access-control-allow-origin"] == origin)
            #expect(reply.headers["access-control-expose-headers"] == "DPoP-Nonce, WWW-Authenticate")
            let preflight = try await scene.server.send(
                .OPTIONS, "/oauth2/token", headers: [("Origin", origin)], isContract: false)
            #expect(preflight.headers["access-control-allow-headers"]?.contains("DPoP") == true)
        }
    }
}
