import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignServer

extension Page {
    /// The options of the ceremony that the page begins; nil if it begins none.
    func ceremony(_ kind: String) -> JSONValue? {
        guard let match = try? Regex("data-passkey-\(kind)=\"([^\"]*)\"").firstMatch(in: html),
            let text = match.output[1].substring
        else { return nil }
        let json = text.replacing("&quot;", with: "\"").replacing("&#34;", with: "\"").replacing("&amp;", with: "&")
        return try? JSONValue(parsing: Array(json.utf8))
    }

    /// What the page says is wrong; nil for nothing.
    var problem: String? {
        html.firstMatch(of: #/id="[a-z-]*problem"[^>]*>.*?<span>(.*?)<\/span>/#.dotMatchesNewlines())
            .map { String($0.output.1) }
    }
}

// Spec: docs/decisions/0078-passkeys-on-pages.md.
@Suite("Passkeys on the hosted pages")
struct PasskeyPageTests {
    /// A scene on a host with a name, whose browser is signed in by its customer's phone; clients take passkeys.
    static func with(
        named host: String = "localhost", _ body: @escaping @Sendable (SignInPageScene) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"), settings: { $0.issuer = Issuer("http://\(host):\($0.port)") }
        ) { server in
            let base = try await Scene.make(server)
            let scene = SignInPageScene(
                scene: base, browser: TestBrowser(server), credential: base.shop.credential)
            let ways: JSONValue = ["device", "passkey"]
            try await scene.set(["asked_browsers": "all", "ways": ways])
            let claim: JSONValue = ["email": "customer-1@example.com"]
            #expect(try await base.shop.call(.PATCH, "/v1/users/\(base.user)", claim).status == 200)
            let account = try await server.makeClient("Acme account")
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": [.string("\(server.issuer)/account")], "asked_browsers": "all",
                "registration": "known", "ways": ways,
            ]
            let set = try await base.administrator.call(
                .PUT, "/v1/admin/clients/\(account.credential.id)/openid", settings)
            #expect(set.status == 200, "\(set)")
            _ = try await scene.signIn()
            try await body(scene)
        }
    }

    static func registered(
        _ scene: SignInPageScene, isBackupEligible: Bool = false
    ) async throws -> (SoftPasskey, account: Page) {
        let page = try await scene.browser.get("/account/new-passkey")
        let options = try #require(page.ceremony("create"), "\(page.reply)")
        var passkey = SoftPasskey(at: "\(scene.server.issuer)")
        passkey.isBackupEligible = isBackupEligible
        let done = try await scene.browser.submit(
            page, to: "/account/passkeys", [("credential", passkey.register(options).text)])
        #expect(done.status == 200 && done.html.contains("/account/passkeys/psk_"), "\(done.reply)")
        return (passkey, done)
    }

    @Test("One registers a passkey on the account page, and signs in by it in a browser that nobody knows")
    func signsIn() async throws {
        try await Self.with { scene in
            let (passkey, _) = try await Self.registered(scene)
            // A tap brought it in.
            scene.server.clock.advance(.days(1))
            let browser = TestBrowser(scene.server)
            let page = try await browser.get(scene.request())
            let options = try #require(page.ceremony("get"), "\(page.reply)")
            #expect(options["rpId"] == "localhost" && options["allowCredentials"] == [])
            let answer = try passkey.signIn(options).text
            let done = try await browser.submit(page, to: "/signin/passkey", [("credential", answer)])
            let reply = try await scene.redeem(try #require(done.result["code"], "\(done.reply)"))
            let token = try #require(reply.json["id_token"]?.string)
            let payload = try #require(Base64URL.decode(String(token.split(separator: ".")[1])))
            let claims = try JSONValue(parsing: payload)
            #expect(claims["acr"] == "phrh" && claims["amr"] == ["hwk", "user", "pop"])
            #expect(claims["sub"] == .string(scene.scene.user))
            // The same answer once more, and one to another page.
            for again in [page, try await browser.get(scene.request(["prompt": "login"]))] {
                let refused = try await browser.submit(again, to: "/signin/passkey", [("credential", answer)])
                #expect(refused.status == 200 && refused.result["code"] == nil && refused.problem != nil)
            }
        }
    }

    @Test("What is no answer of a passkey is refused as one that nobody knows")
    func garbage() async throws {
        try await Self.with { scene in
            let page = try await scene.browser.get(scene.request(["prompt": "login"]))
            var texts: [String?] = []
            for credential in ["", "{", "[]", "{\"id\":\"AAAA\"}"] {
                let reply = try await scene.browser.submit(page, to: "/signin/passkey", [("credential", credential)])
                #expect(reply.status == 200 && reply.heading == "Who is signing in?", "\(reply.reply)")
                texts.append(reply.problem)
            }
            let stranger = try SoftPasskey(at: "\(scene.server.issuer)").signIn(try #require(page.ceremony("get")))
            let reply = try await scene.browser.submit(page, to: "/signin/passkey", [("credential", stranger.text)])
            texts.append(reply.problem)
            #expect(Set(texts).count == 1 && texts[0] != nil, "\(texts)")
        }
    }

    /// Signs in by a passkey, in a browser that nobody knows.
    private static func entered(
        _ passkey: SoftPasskey, _ scene: SignInPageScene
    ) async throws -> (browser: TestBrowser, page: Page) {
        let browser = TestBrowser(scene.server)
        let page = try await browser.get(scene.request())
        let answer = try passkey.signIn(try #require(page.ceremony("get"), "\(page.reply)")).text
        return (browser, try await browser.submit(page, to: "/signin/passkey", [("credential", answer)]))
    }

    // Spec: WebAuthn Level 3 §6.1.3, §7.2.
    @Test("A passkey that may be synced is called so once it is; one that says another time that it may not is refused")
    func synced() async throws {
        try await Self.with { scene in
            var (passkey, account) = try await Self.registered(scene, isBackupEligible: true)
            let path = try #require(
                account.html.firstMatch(of: #/\/account\/passkeys\/psk_[0-9a-z]*/#).map { String($0.output) })
            // A tap brought it in.
            scene.server.clock.advance(.days(1))
            for (isBackedUp, word, kept) in [
                (false, "On one device. ", "On one device only"),
                (true, "Synced. ", "In your password manager, on all its devices"),
            ] {
                passkey.isBackedUp = isBackedUp
                let (browser, done) = try await Self.entered(passkey, scene)
                #expect(done.result["code"] != nil, "\(done.reply)")
                account = try await browser.get("/account")
                #expect(account.html.contains(word), "\(account.reply)")
                let page = try await browser.get(path)
                #expect(page.html.contains(kept), "\(page.reply)")
            }
            (passkey.isBackupEligible, passkey.isBackedUp) = (false, false)
            let (_, refused) = try await Self.entered(passkey, scene)
            #expect(refused.status == 200 && refused.heading == "Who is signing in?", "\(refused.reply)")
            #expect(refused.problem == "This passkey does not sign you in here. Choose another way.")
        }
    }

    @Test("A passkey is renamed and removed on its page; a name that cannot be shown is refused")
    func changes() async throws {
        try await Self.with { scene in
            let (passkey, account) = try await Self.registered(scene)
            let path = try #require(
                account.html.firstMatch(of: #/\/account\/passkeys\/psk_[0-9a-z]*/#).map { String($0.output) })
            var page = try await scene.browser.get(path)
            for name in ["", String(repeating: "x", count: 61), "a\u{202E}b"] {
                let refused = try await scene.browser.submit(page, to: "\(path)/rename", [("name", name)])
                #expect(refused.status == 200 && refused.html.contains("aria-invalid"), "\(refused.reply)")
            }
            let renamed = try await scene.browser.submit(page, to: "\(path)/rename", [("name", "My <laptop>")])
            #expect(renamed.status == 200 && renamed.html.contains("My &lt;laptop&gt;"), "\(renamed.reply)")
            page = try await scene.browser.get(path)
            let removed = try await scene.browser.submit(page, to: "\(path)/remove")
            #expect(removed.status == 200 && !removed.html.contains("/account/passkeys/psk_"), "\(removed.reply)")
            #expect(try await scene.browser.get(path).location == "/account")
            let signIn = try await TestBrowser(scene.server).get(scene.request())
            #expect(signIn.ceremony("get") != nil)
            let browser = TestBrowser(scene.server)
            let start = try await browser.get(scene.request())
            let answer = try passkey.signIn(try #require(start.ceremony("get")))
            let refused = try await browser.submit(start, to: "/signin/passkey", [("credential", answer.text)])
            #expect(refused.heading == "Who is signing in?", "\(refused.reply)")
            let events = try await scene.scene.administrator.call(.GET, "/v1/admin/events?kind=passkey.removed")
                .success()
            #expect(events["events"]?.array?.last?["actor"]?.string == "user:\(scene.scene.user)")
            let export = try await scene.scene.administrator.call(
                .GET, "/v1/admin/users/\(scene.scene.user)/export")
            #expect(export.status == 200)
        }
    }

    @Test("Registering asks for a sign-in of the last minutes first")
    func fresh() async throws {
        try await Self.with { scene in
            scene.server.clock.advance(seconds: 301)
            let page = try await scene.browser.get("/account/new-passkey")
            #expect(page.ceremony("create") == nil && page.status == 200, "\(page.reply)")
            #expect(page.heading?.contains("sign") == true, "\(page.reply)")
        }
    }

    @Test("Where the host is an address, or the client does not take them, there are no passkeys")
    func off() async throws {
        try await Self.with(named: "127.0.0.1") { scene in
            let page = try await scene.browser.get(scene.request(["prompt": "login"]))
            #expect(page.status == 200 && page.ceremony("get") == nil, "\(page.reply)")
            let creation = try await scene.browser.get("/account/new-passkey")
            #expect(creation.location == "/account")
            let account = try await scene.browser.get("/account")
            #expect(account.status == 200 && !account.html.contains("/account/new-passkey"))
        }
        try await Self.with { scene in
            try await scene.set(["asked_browsers": "all", "ways": ["device", "email"]])
            let page = try await scene.browser.get(scene.request(["prompt": "login"]))
            #expect(page.ceremony("get") == nil && !page.html.contains("value=\"qr\""), "\(page.reply)")
        }
    }
}
