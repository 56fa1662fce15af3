import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0077-account-page.md.
@Suite("The account page")
struct AccountPageTests {
    /// A scene whose browser is signed in at the shop by its customer's phone, with an account page.
    static func with(
        ways: JSONValue = ["device", "qr"], _ body: @escaping @Sendable (SignInPageScene) async throws -> Void
    ) async throws {
        try await SignInPageScene.with { scene in
            let made = try await scene.server.makeClient("Acme account")
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": [.string("\(scene.server.issuer)/account")], "asked_browsers": "all",
                "registration": "known", "ways": ways,
            ]
            let set = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(made.credential.id)/openid", settings)
            #expect(set.status == 200, "\(set)")
            _ = try await scene.signIn()
            try await body(scene)
        }
    }

    private static func removal(_ scene: SignInPageScene) -> String {
        "/account/devices/\(scene.scene.phone.enrollment)/remove"
    }

    @Test("It shows the devices, sessions and events of whoever has signed in, and to nobody else")
    func shows() async throws {
        try await Self.with { scene in
            let page = try await scene.browser.get("/account")
            #expect(page.status == 200 && page.heading == "Your account", "\(page.reply)")
            #expect(page.html.contains(Self.removal(scene)) && page.html.contains("Not confirmed"))
            #expect(page.reply.headers["cache-control"] == "no-store")
            let german = try await scene.browser.get("/account?ui_locales=de")
            #expect(german.heading == "Ihr Konto")
            let other = try await TestBrowser(scene.server).get("/account")
            #expect(other.heading == "Who is signing in?" && !other.html.contains("/account/devices"))
        }
    }

    @Test("Without a client for it there is no page")
    func off() async throws {
        try await SignInPageScene.with { scene in
            for path in ["/account", Self.removal(scene)] {
                let page = try await scene.browser.get(path)
                #expect(page.status == 404, "\(page.reply)")
            }
        }
    }

    @Test(
        "One signs in to it as at every client, and comes back to it without a code",
        .enabled(if: QRReader.isThere, "zbarimg is not installed"))
    func signsIn() async throws {
        try await Self.with { scene in
            let browser = TestBrowser(scene.server)
            let identifier = try await browser.get("/account")
            let choose = try await browser.submit(
                identifier, to: "/signin/choose", [("identifier", "customer-1@example.com")])
            #expect(choose.html.contains("Acme account"), "\(choose.reply)")
            let asked = try await browser.submit(choose, to: "/signin/ask", [("way", "qr")])
            let path = try #require(asked.location)
            let code = try #require(ChallengeCode(try QRReader.read(svg: try await browser.get("\(path)/code").html)))
            let claim: JSONValue = [
                "transaction_id": .string("\(code.challenge)"), "otp": .string(code.otp.reveal()), "via": "qr",
            ]
            #expect(try await scene.scene.phone.send(.POST, "/v1/challenges/claim", claim).status < 300)
            let answer = try await scene.scene.phone.answer("\(code.challenge)", .approved(.confirm, number: nil))
            #expect(answer.status == 200, "\(answer)")
            let done = try await browser.get("\(path)/done")
            #expect(done.status == 303 && done.location == "/account", "\(done.reply)")
            #expect(try await browser.get("/account").heading == "Your account")
            // The other session is on the page, and ends there.
            let page = try await browser.get("/account")
            let end = try #require(
                page.html.firstMatch(of: #/\/account\/sessions\/ses_[^\/]*\/end/#).map { String($0.output) })
            let ended = try await browser.submit(page, to: end)
            #expect(ended.status == 200 && ended.heading == "Your account", "\(ended.reply)")
            #expect(try await scene.browser.get("/account").heading == "Who is signing in?")
        }
    }

    @Test("A sign-in that the phone reports has a notice, in both languages, and nowhere else")
    func reported() async throws {
        try await Self.with { scene in
            #expect(try await !scene.browser.get("/account").html.contains("You reported a sign-in."))
            let earlier = try await scene.allPending()
            let stranger = TestBrowser(scene.server)
            _ = try await scene.numberPage(in: stranger)
            let id = try await scene.pending(besides: earlier)
            #expect(try await scene.scene.phone.answer(id, .reported).status == 200)
            let page = try await scene.browser.get("/account")
            let said = "<strong>You reported a sign-in.</strong> It was stopped. Nobody was signed in."
            #expect(page.html.contains(said), "\(page.html)")
            let lock = #/Until tomorrow, [0-9]{2}:[0-9]{2}[^<]* only browsers that you have used here can ask your/#
            #expect(page.html.firstMatch(of: lock) != nil, "\(page.html)")
            #expect(page.html.firstMatch(of: #/<dt>From<\/dt><dd><b><bdi>[^<]*127\.0\.0\.1<\/bdi>/#) != nil)
            #expect(page.html.firstMatch(of: #/<dt>Reported<\/dt><dd><b>Today, [^<]*, on <bdi>/#) != nil)
            let german = try await scene.browser.get("/account?ui_locales=de")
            #expect(german.html.contains("<strong>Sie haben eine Anmeldung gemeldet.</strong>"), "\(german.html)")
            let other = try await stranger.get("/account")
            #expect(other.heading == "Who is signing in?" && !other.html.contains("You reported a sign-in."))
        }
    }

    @Test("A device is removed after a question, and the session that it opened ends")
    func removes() async throws {
        try await Self.with { scene in
            let question = try await scene.browser.get(Self.removal(scene))
            #expect(question.status == 200 && question.heading?.hasPrefix("Remove") == true, "\(question.reply)")
            let removed = try await scene.browser.submit(question, to: Self.removal(scene))
            #expect(removed.status == 200 && removed.heading == "Who is signing in?", "\(removed.reply)")
            #expect(try await scene.scene.phone.send(.GET, "/v1/enrollments/self").status != 200)
            let events = try await scene.scene.administrator.call(.GET, "/v1/admin/events?kind=enrollment.removed")
                .success()
            let event = try #require(events["events"]?.array?.last)
            #expect(event["actor"]?.string == "user:\(scene.scene.user)")
            #expect(event["detail"]?["reason"] == "removed_on_account_page")
        }
    }

    @Test("A device that is not confirmed does not confirm itself, whatever form is sent")
    func confirmsNothing() async throws {
        try await Self.with { scene in
            let page = try await scene.browser.get("/account")
            #expect(!page.html.contains("/confirm\""))
            let path = "/account/devices/\(scene.scene.phone.enrollment)/confirm"
            let sent = try await scene.browser.submit(page, to: path)
            #expect(sent.status == 200 && sent.html.contains("Not confirmed"), "\(sent.reply)")
        }
    }

    @Test("What does not wait is not undone, and a cursor that is none of ours shows the latest events")
    func undo() async throws {
        try await Self.with { scene in
            let page = try await scene.browser.get("/account")
            let method = "/account/devices/\(scene.scene.phone.enrollment)/methods"
            let gone = try await scene.browser.submit(page, to: "\(method)/pin/undo", [])
            #expect(gone.status == 200 && gone.html.contains("is not there any more"), "\(gone.reply)")
            let unknown = try await scene.browser.submit(page, to: "\(method)/bogus/undo", [])
            #expect(unknown.status == 303 && unknown.location == "/account", "\(unknown.reply)")
            #expect(!page.html.contains("before="), "these are all")
            let bogus = try await scene.browser.get("/account?before=x")
            #expect(bogus.status == 200 && bogus.heading == "Your account")
        }
    }

    @Test("A form without our seal, of another browser, or of a page of another kind does nothing")
    func otherSite() async throws {
        try await Self.with { scene in
            let page = try await scene.browser.get("/account")
            let seal = try #require(page.request)
            for form in [[], [("request", "x\(seal)")]] {
                let reply = try await scene.browser.post(Self.removal(scene), form)
                #expect(reply.status == 400 && reply.heading == "This page is too old", "\(reply.reply)")
            }
            let signIn = try await scene.browser.get(scene.request(["prompt": "login"]))
            #expect(try await scene.browser.submit(signIn, to: Self.removal(scene)).status == 400)
            let stolen = scene.browser.copy(without: "browser")
            _ = try await stolen.get("/account")
            #expect(try await stolen.post(Self.removal(scene), [("request", seal)]).status == 400)
            #expect(try await scene.scene.phone.send(.GET, "/v1/enrollments/self").status == 200)
        }
    }
}
