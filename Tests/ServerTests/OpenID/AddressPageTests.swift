import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0079-addresses-on-the-account-page.md.
@Suite("The pages that add and remove addresses")
struct AddressPageTests {
    private static let new = "/account/new-address"

    private struct NoMail: Error {}

    /// The code in the mail to an address.
    private func code(to address: String, _ scene: SignInPageScene) async throws -> String {
        for _ in 0..<200 {
            let messages = try await scene.server.send(.GET, "/dev/outbox").success()["messages"]?.array ?? []
            for message in messages where message["to"]?.string == address {
                if let code = message["text"]?.string?.firstMatch(of: #/[0-9]{6}/#) { return String(code.output) }
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw NoMail()
    }

    /// Another browser, signed in at the shop by a code to the customer's address.
    private func byMail(_ scene: SignInPageScene) async throws -> TestBrowser {
        try await scene.set(["asked_browsers": "all", "ways": ["device", "email"]])
        let browser = TestBrowser(scene.server)
        let first = try await browser.get(scene.request())
        let second = try await browser.submit(
            first, to: "/signin/choose", [("identifier", "customer-1@example.com")])
        let asked = try await browser.submit(second, to: "/signin/ask", [("way", "email")])
        let path = try #require(asked.location)
        let code = try await code(to: "customer-1@example.com", scene)
        let entered = try await browser.submit(try await browser.get(path), to: "\(path)/enter", [("code", code)])
        #expect(entered.status == 303, "\(entered.reply)")
        _ = try await browser.get("\(path)/done")
        return browser
    }

    @Test("Address, code, and the account has it")
    func adds() async throws {
        try await AccountPageTests.with(ways: ["device", "qr", "email"]) { scene in
            let browser = try await byMail(scene)
            #expect(try await browser.get("/account").html.contains("href=\"\(Self.new)\""))
            let page = try await browser.get(Self.new)
            #expect(page.status == 200 && page.heading == "Add an address or number", "\(page.reply)")
            for typed in ["", "nobody", "x@"] {
                let again = try await browser.submit(page, to: Self.new, [("identifier", typed)])
                #expect(again.status == 200 && again.problem != nil && again.heading == page.heading, "\(typed)")
            }
            let number = try await browser.submit(page, to: Self.new, [("identifier", "+491701234567")])
            #expect(number.status == 200 && number.problem != nil && number.html.contains("+491701234567"))
            let sent = try await browser.submit(page, to: Self.new, [("identifier", " Me@Example.com ")])
            #expect(sent.heading == "Enter the code from your email" && sent.html.contains("Me@example.com"))
            let early = try await browser.submit(sent, to: "\(Self.new)/resend")
            #expect(early.status == 200 && early.html.contains("seconds, then ask again"), "\(early.reply)")
            let code = try await code(to: "Me@example.com", scene)
            let malformed = try await browser.submit(sent, to: "\(Self.new)/code", [("code", "12345")])
            #expect(malformed.problem == "Type the six digits of the code.")
            let wrong = try await browser.submit(
                sent, to: "\(Self.new)/code", [("code", code == "000000" ? "000001" : "000000")])
            #expect(wrong.problem == "This is not the code we sent last. 4 tries are left.")
            let typed = "\(code.prefix(3)) \(code.suffix(3))"
            let added = try await browser.submit(wrong, to: "\(Self.new)/code", [("code", typed)])
            #expect(added.status == 200 && added.heading == "Your account", "\(added.reply)")
            #expect(added.html.contains("was verified"), "\(added.reply)")
            let events = try await scene.scene.administrator.call(.GET, "/v1/admin/events?kind=identifier.verified")
            let actors = try events.success()["events"]?.array?.compactMap { $0["actor"]?.string } ?? []
            #expect(actors.contains("user:\(scene.scene.user)"), "\(actors)")
        }
    }

    @Test("The only address has a page without a button that removes it, and no form removes it")
    func only() async throws {
        try await AccountPageTests.with(ways: ["device", "qr", "email"]) { scene in
            let browser = try await byMail(scene)
            let account = try await browser.get("/account")
            let path = try #require(
                account.html.firstMatch(of: #/\/account\/addresses\/[^"\/]*/#).map { String($0.output) })
            let only = try await browser.get(path)
            #expect(only.status == 200 && only.html.contains("customer-1@example.com"), "\(only.reply)")
            #expect(!only.html.contains("\(path)/remove"))
            let kept = try await browser.submit(only, to: "\(path)/remove")
            #expect(kept.status == 200 && kept.heading == "Your account" && kept.html.contains(path), "\(kept.reply)")
            // A tap on a device that is not confirmed adds none.
            let weak = try await scene.browser.get(Self.new)
            #expect(weak.heading == "Your account" && weak.html.contains("This needs another sign-in"), "\(weak.reply)")
        }
    }

    @Test("Where the page sends no codes there is nothing to add, and a form of another page does nothing")
    func refused() async throws {
        try await AccountPageTests.with { scene in
            let account = try await scene.browser.get("/account")
            #expect(!account.html.contains(Self.new))
            #expect(try await scene.browser.get(Self.new).location == "/account")
            let signIn = try await scene.browser.get(scene.request(["prompt": "login"]))
            for path in [Self.new, "\(Self.new)/code", "\(Self.new)/resend", "/account/addresses/x/remove"] {
                let reply = try await scene.browser.submit(signIn, to: path, [("identifier", "me@example.com")])
                #expect(reply.status == 400 && reply.heading == "This page is too old", "\(reply.reply)")
                let gone = try await scene.browser.submit(account, to: path)
                #expect([200, 303].contains(gone.status), "\(gone.reply)")
            }
            #expect(try await scene.browser.get("/account/addresses/x").location == "/account")
        }
    }
}
