import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0078-passkeys-on-pages.md.
@Suite("The page that offers a passkey after a sign-in")
struct PasskeyOfferTests {
    private static let heading = "Sign in with a passkey next time?"
    private static let cookie = "countersign-passkey-offer"

    /// A sign-in by the phone in a browser that keeps passkeys, as its script says; and what its end leads to.
    private func signIn(
        _ scene: SignInPageScene, in browser: TestBrowser, _ changes: KeyValuePairs<String, String?> = [:],
        keeps: Bool = true
    ) async throws -> (path: String, end: Page) {
        let said = keeps ? [("passkeys", "kept")] : []
        let first = try await browser.get(scene.request(changes))
        let second = try await browser.submit(
            first, to: "/signin/choose", [("identifier", "customer-1@example.com")] + said)
        let asked = try await browser.submit(second, to: "/signin/ask", [("way", "device")])
        let path = try #require(asked.location, "\(asked.reply)")
        try await scene.approve(try await browser.get(path))
        return (path, try await browser.get("\(path)/done"))
    }

    /// A browser of the customer's in which nobody is signed in.
    private func signedOut(_ scene: SignInPageScene) -> TestBrowser { scene.browser.copy(without: "session") }

    /// The page with the offer, after a sign-in.
    private func offer(
        _ scene: SignInPageScene, in browser: TestBrowser, _ changes: KeyValuePairs<String, String?> = [:]
    ) async throws -> (path: String, page: Page) {
        let (signIn, end) = try await signIn(scene, in: browser, changes)
        #expect(end.status == 303 && end.location == "\(signIn)/passkey", "\(end.reply)")
        let path = try #require(end.location)
        let page = try await browser.get(path)
        #expect(page.status == 200 && page.heading == Self.heading, "\(page.reply)")
        return (path, page)
    }

    @Test("It comes once in ninety days, also when it is loaded again, and \"Not now\" leads to the client with a code")
    func notNow() async throws {
        try await PasskeyPageTests.with { scene in
            let browser = signedOut(scene)
            let (path, page) = try await offer(scene, in: browser)
            let set = page.reply.headers["set-cookie"]
            #expect(set?.contains(Self.cookie) == true && set?.contains("Max-Age=7776000") == true, "\(page.reply)")
            #expect(browser.cookieNames.count == 4)
            // The person is signed in, by a tap.
            #expect(page.html.contains("It counts from") && !page.html.contains("/signin/start"))
            #expect(try await browser.get(path).heading == Self.heading)
            let done = try await browser.submit(page, to: path)
            #expect(done.result["state"] == "s-1" && done.result["iss"] == "\(scene.server.issuer)", "\(done.reply)")
            #expect(try await scene.redeem(try #require(done.result["code"])).status == 200)
            let again = try await signIn(scene, in: browser.copy(without: "session")).end
            #expect(again.status == 200 && again.result["code"] != nil, "\(again.reply)")
            _ = try await offer(scene, in: browser.copy(without: "session").copy(without: Self.cookie))
        }
    }

    @Test("Whoever wants no more offers in this browser gets none")
    func never() async throws {
        try await PasskeyPageTests.with { scene in
            let browser = signedOut(scene)
            let (path, page) = try await offer(scene, in: browser)
            let done = try await browser.submit(page, to: path, [("offer", "never")])
            #expect(done.result["code"] != nil, "\(done.reply)")
            #expect(done.reply.headers["set-cookie"]?.contains("Max-Age=34560000") == true, "\(done.reply)")
        }
    }

    @Test("A passkey is created once, however often its page is loaded, is announced, and leads on with a code")
    func created() async throws {
        try await PasskeyPageTests.with { scene in
            let browser = signedOut(scene)
            let (path, page) = try await offer(scene, in: browser)
            let options = try #require(page.ceremony("create"), "\(page.reply)")
            #expect(options["rp"]?["id"] == "localhost" && options["excludeCredentials"] == [])
            var passkey = SoftPasskey(at: "\(scene.server.issuer)")
            let answer = [("credential", passkey.register(options).text)]
            let created = try await browser.submit(page, to: path, answer)
            let location = try #require(created.location, "\(created.reply)")
            #expect(created.status == 303 && location.hasPrefix("\(path)/psk_"), "\(created.reply)")
            for _ in 0..<2 {
                let made = try await browser.get(location)
                #expect(made.html.contains("Passkey created."), "\(made.reply)")
                #expect(made.html.contains("It counts from"))
            }
            // The same answer once more.
            let refused = try await browser.submit(page, to: path, answer)
            #expect(refused.status == 200 && refused.heading == "No passkey was created", "\(refused.reply)")
            let account = try await browser.get("/account")
            let rows = Set(account.html.matches(of: #/\/account\/passkeys\/psk_[0-9a-z]*/#).map { String($0.output) })
            #expect(rows.count == 1, "\(account.reply)")
            for next in [try await browser.get(location), refused] {
                let done = try await browser.submit(next, to: path)
                #expect(try await scene.redeem(try #require(done.result["code"], "\(done.reply)")).status == 200)
            }
            // Somebody else's page, or that of another browser, shows nothing.
            let stranger = try await TestBrowser(scene.server).get(location)
            #expect(stranger.status == 404, "\(stranger.reply)")
        }
    }

    @Test("Without scripts, in a session, where the client must not wait, and where it takes none there is none")
    func conditions() async throws {
        try await PasskeyPageTests.with { scene in
            let browser = signedOut(scene)
            let still = try await signIn(scene, in: browser, keeps: false).end
            #expect(still.result["code"] != nil, "\(still.reply)")
            // Signed in already: a step up, and what needs no page at all.
            let stepUp = try await signIn(scene, in: browser, ["prompt": "login"]).end
            #expect(stepUp.result["code"] != nil, "\(stepUp.reply)")
            for changes in [["prompt": "none"], [:]] as [KeyValuePairs<String, String?>] {
                let silent = try await browser.get(scene.request(changes))
                #expect(silent.result["code"] != nil, "\(silent.reply)")
            }
            let aged = try await signIn(scene, in: signedOut(scene), ["max_age": "600"]).end
            #expect(aged.result["code"] != nil, "\(aged.reply)")
            #expect(!browser.cookieNames.contains { $0.contains(Self.cookie) })
            try await scene.set(["asked_browsers": "all", "ways": ["device", "qr"]])
            let without = try await signIn(scene, in: signedOut(scene)).end
            #expect(without.result["code"] != nil, "\(without.reply)")
        }
        try await PasskeyPageTests.with(named: "127.0.0.1") { scene in
            let end = try await signIn(scene, in: signedOut(scene)).end
            #expect(end.result["code"] != nil, "\(end.reply)")
        }
    }

    @Test("A browser that has created a passkey on the account page, or signed in by one, is offered none")
    func used() async throws {
        try await PasskeyPageTests.with { scene in
            let (passkey, _) = try await PasskeyPageTests.registered(scene)
            #expect(scene.browser.cookieNames.contains { $0.contains(Self.cookie) })
            scene.server.clock.advance(.days(1))
            let browser = TestBrowser(scene.server)
            let page = try await browser.get(scene.request())
            let answer = try passkey.signIn(try #require(page.ceremony("get"))).text
            let done = try await browser.submit(
                page, to: "/signin/passkey", [("credential", answer), ("passkeys", "kept")])
            #expect(done.result["code"] != nil, "\(done.reply)")
            #expect(browser.cookieNames.contains { $0.contains(Self.cookie) })
            // Without the cookies, too, nobody is offered one after a passkey.
            let again = signedOut(scene).copy(without: Self.cookie)
            let next = try await again.get(scene.request())
            let second = try passkey.signIn(try #require(next.ceremony("get"))).text
            let end = try await again.submit(
                next, to: "/signin/passkey", [("credential", second), ("passkeys", "kept")])
            #expect(end.result["code"] != nil, "\(end.reply)")
        }
    }

    @Test("What the account page refuses is refused, and yet nobody is kept from the client")
    func refused() async throws {
        try await PasskeyPageTests.with { scene in
            let browser = signedOut(scene)
            let (path, page) = try await offer(scene, in: browser)
            let ceremony = try #require(page.ceremony("create"))
            func answer() -> [(String, String)] {
                var passkey = SoftPasskey(at: "\(scene.server.issuer)")
                return [("credential", passkey.register(ceremony).text)]
            }
            // Without the session; in another browser; with the page of another sign-in, or one that asks.
            let robbed = try await browser.copy(without: "session").submit(page, to: path, answer())
            #expect(robbed.heading == "No passkey was created", "\(robbed.reply)")
            #expect(try await browser.copy(without: "session").submit(page, to: path).status == 404)
            let other = TestBrowser(scene.server)
            _ = try await other.get(scene.request())
            #expect(try await other.submit(page, to: path, answer()).status == 400)
            let asking = try await browser.get(scene.request(["prompt": "login"]))
            #expect(try await browser.submit(asking, to: path, answer()).status == 404)
            for garbage in ["{", "[]"] {
                let refused = try await browser.submit(page, to: path, [("credential", garbage)])
                #expect(refused.heading == "No passkey was created", "\(refused.reply)")
            }
            // Ten minutes after the sign-in, on a page that was shown in time.
            scene.server.clock.advance(seconds: 601)
            let late = try await browser.submit(page, to: path, answer())
            #expect(late.heading == "No passkey was created", "\(late.reply)")
            #expect(try await !browser.get("/account").html.contains("/account/passkeys/psk_"))
            #expect(try await browser.get(path).location == path.replacing("/passkey", with: "/done"))
            let done = try await browser.submit(late, to: path)
            #expect(done.result["code"] != nil, "\(done.reply)")
        }
    }

    @Test("Before the sign-in has ended there is no such page, and after half an hour no more; the session goes on")
    func expired() async throws {
        try await PasskeyPageTests.with { scene in
            let browser = signedOut(scene)
            let first = try await browser.get(scene.request())
            let second = try await browser.submit(
                first, to: "/signin/choose", [("identifier", "customer-1@example.com"), ("passkeys", "kept")])
            let asked = try await browser.submit(second, to: "/signin/ask", [("way", "device")])
            let signIn = try #require(asked.location)
            let number = try await browser.get(signIn)
            #expect(try await browser.get("\(signIn)/passkey").location == "\(signIn)/done")
            #expect(try await browser.submit(number, to: "\(signIn)/passkey").status == 404)
            try await scene.approve(number)
            let end = try await browser.get("\(signIn)/done")
            let path = try #require(end.location, "\(end.reply)")
            let page = try await browser.get(path)
            scene.server.clock.advance(seconds: 1801)
            #expect(try await browser.submit(page, to: path).status == 400)
            #expect(try await browser.get(path).location == "\(signIn)/done")
            #expect(try await browser.get("\(signIn)/done").status == 404)
            #expect(try await browser.get(scene.request()).result["code"] != nil)
        }
    }

    @Test("Another tab goes on meanwhile, and each gets a code for its own state; also where the code is posted")
    func tabs() async throws {
        try await PasskeyPageTests.with { scene in
            let browser = signedOut(scene)
            let (path, page) = try await offer(scene, in: browser, ["response_mode": "form_post"])
            let other = try await browser.get(scene.request(["state": "s-2"]))
            #expect(other.result["state"] == "s-2" && other.result["code"] != nil, "\(other.reply)")
            let done = try await browser.submit(page, to: path)
            #expect(done.html.contains("id=\"onward\"") && done.html.contains("name=\"code\""), "\(done.reply)")
            #expect(done.html.contains("value=\"s-1\""), "\(done.reply)")
        }
    }

    @Test("It changes its language and stays what it is, and what comes of it speaks that language")
    func language() async throws {
        try await PasskeyPageTests.with { scene in
            let browser = signedOut(scene)
            let (path, page) = try await offer(scene, in: browser)
            let german = try await browser.inGerman(page)
            var passkey = SoftPasskey(at: "\(scene.server.issuer)")
            let answer = passkey.register(try #require(german.ceremony("create"), "\(german.reply)")).text
            let created = try await browser.submit(german, to: path, [("credential", answer)])
            let made = try await browser.get(try #require(created.location, "\(created.reply)"))
            #expect(made.language == "de" && made.html.contains("Passkey erstellt."), "\(made.reply)")
        }
    }
}
