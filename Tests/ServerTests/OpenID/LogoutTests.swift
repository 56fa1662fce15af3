import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: OpenID Connect RP-Initiated Logout 1.0 §2, §2.1 and §3.1.
@Suite("Signing out, by the modules of the OpenID certification")
struct LogoutTests {
    private static let returnURI = "http://127.0.0.1:9/signed-out"

    /// A scene whose browser is signed in, with the ID token of the sign-in.
    private static func with(
        _ body: @escaping @Sendable (SignInPageScene, _ token: String) async throws -> Void
    ) async throws {
        let settings: JSONObject = ["asked_browsers": "all", "post_logout_redirect_uris": [.string(returnURI)]]
        try await SignInPageScene.with(settings) { scene in
            let code = try #require(try await scene.signIn().result["code"])
            let token = try #require(try await scene.redeem(code).json["id_token"]?.string)
            try await body(scene, token)
        }
    }

    private static func request(_ fields: KeyValuePairs<String, String?>) -> String {
        let query = fields.compactMap { name, value in value.map { "\(name)=\(FormText.encoded($0))" } }
        return "/oauth2/logout?\(query.joined(separator: "&"))"
    }

    private static func isSignedIn(_ scene: SignInPageScene) async throws -> Bool {
        try await scene.browser.get(scene.request(["prompt": "none"])).result["code"] != nil
    }

    @Test("oidcc-rp-initiated-logout: an ID token of this session signs out without a question, even when it is over")
    func initiated() async throws {
        try await Self.with { scene, token in
            #expect(try await Self.isSignedIn(scene))
            scene.server.clock.advance(seconds: 1200)
            let path = Self.request([
                "id_token_hint": token, "post_logout_redirect_uri": Self.returnURI, "state": "s-2",
            ])
            let before = scene.browser.copy()
            let out = try await scene.browser.get(path)
            #expect(out.status == 303 && out.location == "\(Self.returnURI)?state=s-2", "\(out.reply)")
            #expect(out.reply.headers["set-cookie"]?.contains("Max-Age=0") == true)
            #expect(try await !Self.isSignedIn(scene))
            // The old cookie is worth nothing.
            #expect(try await before.get(scene.request(["prompt": "none"])).result["error"] == "login_required")
            let again = try await scene.browser.get(path)
            #expect(again.location == "\(Self.returnURI)?state=s-2", "\(again.reply)")
        }
    }

    // Modules: -no-state, -no-post-logout-redirect-uri
    @Test(
        "oidcc-rp-initiated-logout-no-state and -no-post-logout-redirect-uri: without a state, and on a page of ours")
    func fewer() async throws {
        try await Self.with { scene, token in
            let page = try await scene.browser.get(Self.request(["id_token_hint": token]))
            #expect(page.status == 200 && page.heading == "You are signed out", "\(page.reply)")
            #expect(page.html.contains("ACME"))
            #expect(try await !Self.isSignedIn(scene))
            let out = try await scene.browser.get(
                Self.request(["id_token_hint": token, "post_logout_redirect_uri": Self.returnURI]))
            #expect(out.location == Self.returnURI)
        }
    }

    // Modules: -bad-post-logout-redirect-uri, -query-added-to-post-logout-redirect-uri
    @Test(
        "…-bad-post-logout-redirect-uri and -query-added: an address that is not registered is none, and gets no state",
        arguments: ["https://attacker.example/", "\(returnURI)?x=1", "\(returnURI)/", "javascript:alert(1)"])
    func badURI(_ uri: String) async throws {
        try await Self.with { scene, token in
            let page = try await scene.browser.get(
                Self.request(["id_token_hint": token, "post_logout_redirect_uri": uri, "state": "s-2"]))
            #expect(page.status == 200 && page.location == nil && page.onward == nil, "\(page.reply)")
            #expect(page.heading == "You are signed out" && !page.html.contains("s-2"))
        }
    }

    // Modules: -no-params, -only-state, -no-id-token-hint, -bad-id-token-hint, -modified-id-token-hint
    @Test(
        "…-no-params, -only-state, -no-id-token-hint, -bad- and -modified-id-token-hint: the person is asked",
        arguments: ["no params", "only state", "no hint", "bad hint", "modified hint", "access token"])
    func asks(_ kind: String) async throws {
        try await Self.with { scene, token in
            var (hint, state, client): (String?, String?, String?) = (nil, nil, nil)
            switch kind {
            case "only state": state = "s-2"
            case "no hint": client = scene.credential.id
            case "bad hint": hint = "e30.e30.e30"
            case "modified hint": hint = String(token.dropLast(4)) + "AAAA"
            case "access token":
                let code = try #require(try await scene.browser.get(scene.request()).result["code"])
                hint = try await scene.redeem(code).json["access_token"]?.string
            default: break
            }
            let path = Self.request([
                "id_token_hint": hint, "state": state, "client_id": client,
                "post_logout_redirect_uri": kind.hasPrefix("no p") || kind.hasPrefix("only") ? nil : Self.returnURI,
            ])
            let page = try await scene.browser.get(path)
            #expect(page.status == 200 && page.location == nil && page.request != nil, "\(page.reply)")
            #expect(page.heading == (client == nil ? "Sign out?" : "Sign out of ACME Shop?"))
            #expect(try await Self.isSignedIn(scene))
            // Nothing but the press of a button is an answer, in this browser.
            #expect(try await scene.browser.submit(page, to: "/oauth2/logout/answer").request != nil)
            let foreign = try await scene.browser.copy(without: "browser").submit(
                page, to: "/oauth2/logout/answer", [("decision", "out")])
            #expect(foreign.status == 400)
            #expect(try await Self.isSignedIn(scene))
            if client != nil {
                let stay = try await scene.browser.submit(page, to: "/oauth2/logout/answer", [("decision", "stay")])
                #expect(stay.onward == Self.returnURI)
                #expect(try await Self.isSignedIn(scene))
            }
            let out = try await scene.browser.submit(page, to: "/oauth2/logout/answer", [("decision", "out")])
            #expect(client == nil ? out.heading == "You are signed out" : out.onward == Self.returnURI, "\(out.reply)")
            #expect(try await !Self.isSignedIn(scene))
        }
    }

    @Test("An ID token of another session, or of another client, asks; a client_id that is not the hint's is refused")
    func others() async throws {
        try await Self.with { scene, token in
            let other = SignInPageScene(
                scene: scene.scene, browser: TestBrowser(scene.server), credential: scene.credential)
            _ = try await other.signIn()
            let page = try await other.browser.get(Self.request(["id_token_hint": token]))
            #expect(page.request != nil && page.heading == "Sign out of ACME Shop?")
            let stranger = try await scene.server.makeClient("Other").credential.id
            let mixed = try await scene.browser.get(Self.request(["id_token_hint": token, "client_id": stranger]))
            #expect(mixed.status == 400 && mixed.location == nil)
            #expect(try await Self.isSignedIn(scene))
        }
    }

    // Modules: -discovery-endpoint-verification
    @Test(
        "A form from the client's site is answered with a link to the same request; a browser without a session sees a page"
    )
    func post() async throws {
        try await Self.with { scene, token in
            let moved = try await scene.browser.post("/oauth2/logout", [("id_token_hint", token), ("state", "s-2")])
            #expect(moved.status == 303 && moved.location == Self.request(["id_token_hint": token, "state": "s-2"]))
            let stranger = try await TestBrowser(scene.server).get("/oauth2/logout")
            #expect(stranger.status == 200 && stranger.heading == "You are signed out")
            let metadata = try await scene.server.send(
                .GET, "/.well-known/openid-configuration", isContract: false)
            #expect(metadata.json["end_session_endpoint"] == .string("\(scene.server.issuer)/oauth2/logout"))
        }
    }
}
