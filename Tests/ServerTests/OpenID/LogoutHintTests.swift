import CountersignCore
import CountersignWire
import Crypto
import Encodings
import JOSE
import ServerTestSupport
import Testing

@testable import CountersignServer

// Spec: OpenID Connect RP-Initiated Logout 1.0 §2 and §3.
@Suite("Signing out by a hint that proves nothing, by the modules of the OpenID certification")
struct LogoutHintTests {
    /// What stands in the place of an ID token of this session.
    enum Hint: CaseIterable {
        case missing, unsigned, unsignedWithSignature, foreignKey, foreignKeyUnderOurName

        /// The hint that is made of an ID token of this session.
        func text(from token: String) async throws -> String? {
            let parts = token.split(separator: ".").map(String.init)
            let claims = try #require(Base64URL.decode(parts[1]))
            let header = try JSONValue(parsing: try #require(Base64URL.decode(parts[0])))
            var members = try #require(header.object)
            members["alg"] = "none"
            let unsigned = "\(Base64URL.encode(JSONValue.object(members).encoded)).\(parts[1])."
            switch self {
            case .missing: return nil
            case .unsigned: return unsigned
            case .unsignedWithSignature: return unsigned + parts[2]
            case .foreignKey:
                let key = P256.Signing.PrivateKey()
                return try await JWS.sign(claims, type: "JWT", by: key, keyID: key.jwsPublicKey.thumbprint)
            case .foreignKeyUnderOurName:
                let name = try #require(header["kid"]?.string)
                #expect(header["alg"] == "RS256")
                return try await JWS.sign(claims, type: "JWT", by: try RSAPrivateKey(), keyID: name)
            }
        }
    }

    // Modules: -no-id-token-hint, -bad-id-token-hint, -modified-id-token-hint
    @Test(
        "…-no-id-token-hint without client_id, -bad- and -modified-id-token-hint: the person is asked, and goes nowhere",
        arguments: Hint.allCases)
    func asks(_ hint: Hint) async throws {
        let address = "http://127.0.0.1:9/signed-out"
        let settings: JSONObject = ["asked_browsers": "all", "post_logout_redirect_uris": [.string(address)]]
        try await SignInPageScene.with(settings) { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let token = try #require(try await scene.redeem(code).json["id_token"]?.string)
            func isSignedIn() async throws -> Bool {
                try await scene.browser.get(scene.request(["prompt": "none"])).result["code"] != nil
            }
            var fields = [("post_logout_redirect_uri", address), ("state", "s-2")]
            if let text = try await hint.text(from: token) { fields.append(("id_token_hint", text)) }
            let page = try await scene.browser.get("/oauth2/logout?\(FormText.encoded(fields))")
            #expect(page.status == 200 && page.location == nil && page.onward == nil, "\(page.reply)")
            #expect(page.heading == "Sign out?" && page.request != nil, "\(page.reply)")
            #expect(try await isSignedIn())
            let out = try await scene.browser.submit(page, to: "/oauth2/logout/answer", [("decision", "out")])
            #expect(out.heading == "You are signed out", "\(out.reply)")
            #expect(out.location == nil && out.onward == nil && !out.html.contains(address), "\(out.reply)")
            #expect(try await !isSignedIn())
        }
    }

    @Test("A text that our key has signed is a hint only as an ID token of this issuer, for a client and of a user")
    func issuer() async throws {
        try await TestServer.withPorts { server, ports in
            let scene = try await Scene.make(server)
            // The first client that signs people in has the key made.
            let pages = SignInPageScene(
                scene: scene, browser: TestBrowser(server), credential: scene.shop.credential)
            try await pages.set(["asked_browsers": "all"])
            let tokenKey = try ports.keys.current().tokens.es256
            let key = try #require(tokenKey)
            func hint(_ changes: [String: JSONValue] = [:], type: String = "JWT") async throws -> IDTokenHint? {
                var claims: JSONObject = [
                    "iss": .string("\(server.issuer)"), "aud": .string(scene.shop.credential.id),
                    "sub": .string(scene.user), "sid": "session-1",
                ]
                for (name, value) in changes { claims[name] = value }
                let text = try await JWS.sign(
                    JSONValue.object(claims).encoded, type: type, by: key, keyID: key.keyID)
                return IDTokenHint(text, ports)
            }
            #expect(try await hint()?.sid == "session-1")
            for (name, value) in [("iss", "https://other.example.com"), ("aud", "somebody"), ("sub", "somebody")] {
                let refused = try await hint([name: .string(value)])
                #expect(refused == nil, "\(name)")
            }
            let refused = try await hint(type: "at+jwt")
            #expect(refused == nil)
        }
    }
}
