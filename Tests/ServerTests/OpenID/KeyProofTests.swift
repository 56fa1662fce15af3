import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 9449 §4.1, §4.3, §5, §5.1, §8, §8.1, §8.2, §10; RFC 9728 §2.
@Suite("Proofs of a key at the endpoints")
struct KeyProofTests {
    @Test("RFC 9449 §5.1: the metadata say by which algorithms proofs are signed")
    func metadata() async throws {
        try await SignInPageScene.with { scene in
            for path in ["openid-configuration", "oauth-authorization-server", "oauth-protected-resource"] {
                let told = try await scene.server.send(.GET, "/.well-known/\(path)", isContract: false).json
                #expect(told["dpop_signing_alg_values_supported"] == ["ES256", "EdDSA"], "\(told)")
            }
        }
    }

    // Modules: dpop-negative-tests
    @Test("RFC 9449 §8: a proof without a nonce is told one, and nothing is spent by that; a success tells the next")
    func nonce() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let key = TestKey(scene.server)
            let fields = scene.redeemFields(code)
            let type = ("Content-Type", "application/x-www-form-urlencoded")
            let first = try await scene.server.send(
                .POST, "/oauth2/token",
                headers: [scene.basic, type, ("DPoP", try await key.proof(.POST, "/oauth2/token"))],
                body: Array(FormText.encoded(fields).utf8), isContract: false)
            expectOAuthError(first, "use_dpop_nonce")
            #expect(first.headers["www-authenticate"] == nil)
            let tokens = try await key.send(.POST, "/oauth2/token", fields, headers: [scene.basic])
            #expect(tokens.status == 200 && tokens.json["token_type"] == "DPoP", "\(tokens)")
            // The nonce that was told with it is good for two minutes, and then another one is.
            let access = try #require(tokens.json["access_token"]?.string)
            let told = try await key.send(.GET, "/oauth2/userinfo", token: access)
            #expect(told.status == 200, "\(told)")
            scene.server.clock.advance(seconds: 150)
            let over = try await scene.server.send(
                .GET, "/oauth2/userinfo",
                headers: [
                    ("Authorization", "DPoP \(access)"),
                    ("DPoP", try await key.proof(.GET, "/oauth2/userinfo", for: access)),
                ], isContract: false)
            expectError(over, 401, "use_dpop_nonce")
            #expect(over.headers["www-authenticate"]?.hasPrefix("DPoP error=\"use_dpop_nonce\"") == true)
            // Several fields of one name stand here in one, with commas between them.
            for reply in [first, tokens, told, over] {
                let nonce = try #require(reply.headers["dpop-nonce"], "\(reply)")
                #expect(nonce.wholeMatch(of: /[A-Za-z0-9_\-]{32}/) != nil, "\(reply)")
            }
            #expect(try await key.send(.GET, "/oauth2/userinfo", token: access).status == 200)
            // Without a proof nothing is said of nonces.
            let bearer = try await scene.token([("grant_type", "client_credentials")], basic: scene.credential)
            #expect(bearer.status == 200 && bearer.json["token_type"] == "Bearer", "\(bearer)")
            #expect(bearer.headers["dpop-nonce"] == nil)
        }
    }

    // Modules: dpop-negative-tests
    @Test("RFC 9449 §4.3: one field DPoP with one proof, and no more")
    func several() async throws {
        try await SignInPageScene.with { scene in
            let key = TestKey(scene.server)
            let fields = [("grant_type", "client_credentials")]
            // It gets a nonce by this.
            #expect(try await key.send(.POST, "/oauth2/token", fields, headers: [scene.basic]).status == 200)
            let other = ("DPoP", try await key.proof(.POST, "/oauth2/token"))
            expectError(
                try await key.send(.POST, "/oauth2/token", fields, headers: [scene.basic, other]), 400,
                "invalid_dpop_proof")
            let joined = "\(try await key.proof(.POST, "/oauth2/token")), \(other.1)"
            for field in [joined, "", "x"] {
                let reply = try await scene.server.send(
                    .POST, "/oauth2/token",
                    headers: [
                        scene.basic, ("Content-Type", "application/x-www-form-urlencoded"), ("DPoP", field),
                    ], body: Array(FormText.encoded(fields).utf8), isContract: false)
                expectError(reply, 400, "invalid_dpop_proof")
            }
        }
    }

    // Modules: dpop-negative-tests
    @Test("A proof for another server or endpoint is none here, whatever host is named; nor comes one twice")
    func elsewhere() async throws {
        try await SignInPageScene.with { scene in
            let key = TestKey(scene.server)
            let fields = [("grant_type", "client_credentials")]
            #expect(try await key.send(.POST, "/oauth2/token", fields, headers: [scene.basic]).status == 200)
            func send(_ proof: String, host: String? = nil) async throws -> Reply {
                let headers = [
                    scene.basic, ("Content-Type", "application/x-www-form-urlencoded"), ("DPoP", proof),
                ]
                return try await scene.server.send(
                    .POST, "/oauth2/token", headers: headers + (host.map { [("Host", $0)] } ?? []),
                    body: Array(FormText.encoded(fields).utf8), isContract: false)
            }
            let evil = try await key.proof(.POST, "/oauth2/token", at: "http://evil.example")
            expectError(try await send(evil), 400, "invalid_dpop_proof")
            expectError(try await send(evil, host: "evil.example"), 400, "invalid_dpop_proof")
            expectError(try await send(try await key.proof(.POST, "/oauth2/userinfo")), 400, "invalid_dpop_proof")
            expectError(try await send(try await key.proof(.GET, "/oauth2/token")), 400, "invalid_dpop_proof")
            let good = try await key.proof(.POST, "/oauth2/token")
            #expect(try await send(good).status == 200)
            expectError(try await send(good), 400, "invalid_dpop_proof")
        }
    }

    @Test("RFC 9449 §10: dpop_jkt is a thumbprint, by which the code is bound to the key")
    func thumbprint() async throws {
        try await SignInPageScene.with { scene in
            for value in ["x", "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4", "\(TestKey(scene.server).thumbprint)x"] {
                let page = try await scene.browser.get(scene.request(["dpop_jkt": value]))
                #expect(page.result["error"] == "invalid_request" && page.result["state"] == "s-1", "\(page.reply)")
            }
            let (key, thief) = (TestKey(scene.server), TestKey(scene.server))
            let code = try #require(try await scene.signIn(["dpop_jkt": key.thumbprint]).result["code"])
            expectError(try await scene.redeem(code), 400, "invalid_grant")
            let fields = scene.redeemFields(code)
            expectError(
                try await thief.send(.POST, "/oauth2/token", fields, headers: [scene.basic]), 400, "invalid_grant")
            let tokens = try await key.send(.POST, "/oauth2/token", fields, headers: [scene.basic])
            #expect(tokens.status == 200 && tokens.json["token_type"] == "DPoP", "\(tokens)")
        }
    }
}
