import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

// Spec: RFC 9449 §8, §8.1, §8.2, §9.
@Suite("The nonce for proofs of a key, in replies")
struct ProofNonceTests {
    @Test("RFC 9449 §8.1: a reply has one field DPoP-Nonce with one nonce, whether it wants one or tells the next")
    func oneField() async throws {
        try await SignInPageScene.with { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let key = TestKey(scene.server)
            let first = try await scene.server.send(
                .POST, "/oauth2/token",
                headers: [
                    scene.basic, ("Content-Type", "application/x-www-form-urlencoded"),
                    ("DPoP", try await key.proof(.POST, "/oauth2/token")),
                ], body: Array(FormText.encoded(scene.redeemFields(code)).utf8), isContract: false)
            expectOAuthError(first, "use_dpop_nonce")
            let tokens = try await key.send(
                .POST, "/oauth2/token", scene.redeemFields(code), headers: [scene.basic])
            #expect(tokens.status == 200, "\(tokens)")
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
            // Several fields of one name stand here in one, with commas between them.
            for reply in [first, tokens, told, over] {
                let nonce = try #require(reply.headers["dpop-nonce"], "\(reply)")
                #expect(nonce.wholeMatch(of: /[A-Za-z0-9_\-]{32}/) != nil, "\(reply)")
            }
        }
    }
}
