import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("Signing in on the pages by a code that is sent to an address")
struct SignInCodePageTests {
    private static let settings: JSONObject = ["asked_browsers": "all", "ways": ["device", "qr", "email"]]

    private func mails(_ scene: SignInPageScene) async throws -> [JSONValue] {
        try await scene.server.send(.GET, "/dev/outbox").success()["messages"]?.array ?? []
    }

    /// The code and the link in a mail with another code than an earlier one.
    private func code(
        _ scene: SignInPageScene, besides earlier: String? = nil
    ) async throws -> (code: String, link: String) {
        for _ in 0..<200 {
            for text in try await mails(scene).compactMap({ $0["text"]?.string }) {
                guard let code = text.firstMatch(of: #/[0-9]{6}/#).map({ String($0.output) }), code != earlier,
                    let link = text.firstMatch(of: #/\/signin\/[^\s]*/#).map({ String($0.output) })
                else { continue }
                return (code, link)
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw NoMail()
    }

    private struct NoMail: Error {}

    /// From the client's request to the page with the field.
    private func codePage(
        _ scene: SignInPageScene, _ name: String = "customer-1@example.com", in other: TestBrowser? = nil
    ) async throws -> (path: String, page: Page) {
        let browser = other ?? scene.browser
        let first = try await browser.get(scene.request(["scope": "openid email"]))
        let second = try await browser.submit(first, to: "/signin/choose", [("identifier", name)])
        #expect(second.html.contains("value=\"email\""), "\(second.reply)")
        let asked = try await browser.submit(second, to: "/signin/ask", [("way", "email")])
        #expect(asked.status == 303, "\(asked.reply)")
        let path = try #require(asked.location)
        return (path, try await browser.get(path))
    }

    // Modules: oidcc-scope-email
    @Test("Address, code, back to the client, and the client learns the address")
    func signsIn() async throws {
        try await SignInPageScene.with(Self.settings) { scene in
            let (path, page) = try await codePage(scene, " Customer-1@Example.com ")
            #expect(page.heading == "Enter the code from your email" && page.html.contains("Customer-1@example.com"))
            let code = try await code(scene).code
            let spaced = "\(code.prefix(3)) \(code.suffix(3))"
            for typed in ["", "12345", "x\(code)"] {
                let again = try await scene.browser.submit(page, to: "\(path)/enter", [("code", typed)])
                #expect(again.status == 200 && again.html.contains("Type the six digits"), "\(typed)")
            }
            let wrong = code == "000000" ? "000001" : "000000"
            let refused = try await scene.browser.submit(page, to: "\(path)/enter", [("code", wrong)])
            #expect(refused.status == 200 && refused.html.contains("4 tries are left"), "\(refused.reply)")
            let right = try await scene.browser.submit(page, to: "\(path)/enter", [("code", spaced)])
            #expect(right.status == 303 && right.location == "\(path)/done")
            let done = try await scene.browser.get("\(path)/done")
            let tokens = try await scene.redeem(try #require(done.result["code"]))
            let info = try await scene.userinfo(try #require(tokens.json["access_token"]?.string)).json
            let expected: JSONValue = [
                "sub": .string(scene.scene.user), "email": "customer-1@example.com", "email_verified": true,
            ]
            #expect(info["sub"] == expected["sub"] && info["email_verified"] == true)
            #expect(info["email"]?.string?.lowercased() == "customer-1@example.com" && info["phone_number"] == nil)
            let user = try await scene.scene.shop.call(.GET, "/v1/users/\(scene.scene.user)").success()
            #expect(user["email_verified"] == true)
            // The link is worth nothing any more.
            #expect(try await scene.browser.get(try await self.code(scene).link).status == 404)
        }
    }

    // Spec: OpenID Connect Core 1.0 §3.1.2.1.
    @Test("acr_values keep nobody out of a client that has codes alone, nor who loads the last page again")
    func liked() async throws {
        try await SignInPageScene.with(["ways": ["email"]]) { scene in
            let first = try await scene.browser.get(scene.request(["acr_values": "urn:countersign:acr:device phr"]))
            let second = try await scene.browser.submit(
                first, to: "/signin/choose", [("identifier", "customer-1@example.com")])
            #expect(second.html.contains("value=\"email\""), "\(second.reply)")
            let asked = try await scene.browser.submit(second, to: "/signin/ask", [("way", "email")])
            let path = try #require(asked.location, "\(asked.reply)")
            let page = try await scene.browser.get(path)
            let code = try await code(scene).code
            let right = try await scene.browser.submit(page, to: "\(path)/enter", [("code", code)])
            #expect(right.location == "\(path)/done", "\(right.reply)")
            for _ in 0..<2 {
                let done = try await scene.browser.get("\(path)/done")
                #expect(done.result["code"] != nil, "\(done.reply)")
            }
        }
    }

    @Test("Who is not known sees the same pages, byte for byte, and is sent nothing")
    func unknown() async throws {
        try await SignInPageScene.with(Self.settings) { scene in
            let names = ["customer-1@example.com", "customer-0@example.com"]
            var pages: [[String]] = []
            for name in names {
                let browser = TestBrowser(scene.server)
                let (path, page) = try await codePage(scene, name, in: browser)
                var seen = [page]
                for _ in 0..<5 {
                    seen.append(try await browser.submit(page, to: "\(path)/enter", [("code", "000000")]))
                }
                seen.append(try await browser.submit(page, to: "/signin/ask/email"))
                pages.append(
                    seen.map { page in
                        page.html.replacing(name, with: "NAME").replacing(path, with: "PATH")
                            .replacing(#/name="request" value="[^"]*"/#, with: "SEALED")
                            // The clock goes on.
                            .replacing(#/data-[a-z]+="[0-9]+"|[0-9]+:[0-9]+(:[0-9]+)?|[0-9]+ seconds/#, with: "TIME")
                    })
            }
            #expect(pages[0] == pages[1])
            #expect(pages[0].last?.contains("then ask again") == true)
            _ = try await code(scene)
            #expect(try await mails(scene).map { $0["to"]?.string } == ["customer-1@example.com"])
        }
    }

    @Test("The link signs in where it was asked for, by a press of the button; elsewhere it shows the code")
    func link() async throws {
        try await SignInPageScene.with(Self.settings) { scene in
            let (path, page) = try await codePage(scene)
            let (code, link) = try await code(scene)
            let other = TestBrowser(scene.server)
            let elsewhere = try await other.get(link)
            #expect(elsewhere.status == 200 && elsewhere.heading == "This is not the browser you began in")
            #expect(!elsewhere.html.contains(code) && elsewhere.request == nil)
            #expect(elsewhere.reply.headers["set-cookie"] == nil)
            let shown = try await other.post(link, [])
            #expect(shown.number == code && shown.heading == "Type this code where you began")
            // Neither has signed anybody in, there or here.
            #expect(try await scene.browser.get(path).heading == page.heading)
            let here = try await scene.browser.get(link)
            #expect(here.heading == "Go on to ACME Shop?")
            // Another site's form brings no sealed request.
            let forged = try await scene.browser.post(link, [])
            #expect(forged.status == 400 && forged.location == nil)
            let german = try await scene.browser.inGerman(here)
            let pressed = try await scene.browser.submit(german, to: link)
            #expect(pressed.location == "\(path)/done")
            #expect(try await scene.browser.get("\(path)/done").result["code"] != nil)
            for path in [link, "\(link)x", "/signin/aut_x/link/y"] {
                #expect(try await other.get(path).status == 404)
            }
        }
    }

    @Test("A new code replaces the earlier one, after the pause")
    func resend() async throws {
        try await SignInPageScene.with(Self.settings) { scene in
            let (path, page) = try await codePage(scene)
            let first = try await code(scene).code
            scene.server.clock.advance(seconds: 31)
            let again = try await scene.browser.submit(page, to: "/signin/ask/email")
            #expect(again.location == path)
            let second = try await code(scene, besides: first).code
            let wrong = try await scene.browser.submit(page, to: "\(path)/enter", [("code", first)])
            #expect(wrong.html.contains("This is not the code we sent last"))
            // Ten minutes later it is over, and the page says so.
            scene.server.clock.advance(seconds: 601)
            let late = try await scene.browser.submit(page, to: "\(path)/enter", [("code", second)])
            #expect(late.html.contains("no longer good"))
            #expect(try await scene.browser.get(path).html.contains("no longer good"))
        }
    }

    @Test("Open registration: who proves an address becomes a user of the client")
    func registers() async throws {
        try await SignInPageScene.with(["ways": ["email"], "registration": "open"]) { scene in
            let (path, page) = try await codePage(scene, "new@example.com")
            let code = try await code(scene).code
            _ = try await scene.browser.submit(page, to: "\(path)/enter", [("code", code)])
            let done = try await scene.browser.get("\(path)/done")
            let tokens = try await scene.redeem(try #require(done.result["code"]))
            let info = try await scene.userinfo(try #require(tokens.json["access_token"]?.string)).json
            #expect(info["email"] == "new@example.com" && info["sub"] != .string(scene.scene.user))
            let user = try #require(info["sub"]?.string)
            #expect(try await scene.scene.shop.call(.GET, "/v1/users/\(user)").status == 200)
        }
    }

    @Test("An address belongs to one user of a client; who takes it is told")
    func claims() async throws {
        try await SignInPageScene.with(Self.settings) { scene in
            let shop = scene.scene.shop
            let taken = try await shop.call(.POST, "/v1/users", ["email": "CUSTOMER-1@example.com"])
            #expect(taken.status == 409 && taken.json["code"] == "address_taken")
            let other = try await shop.call(.POST, "/v1/users", ["phone": "+15551234567"]).success()
            let id = try #require(other["id"]?.string)
            let update = try await shop.call(.PATCH, "/v1/users/\(id)", ["email": "customer-1@example.com"])
            #expect(update.json["code"] == "address_taken")
            _ = try await shop.call(.PATCH, "/v1/users/\(scene.scene.user)", ["email": .null]).success()
            _ = try await shop.call(.PATCH, "/v1/users/\(id)", ["email": "customer-1@example.com"]).success()
            let shown = try await shop.call(.GET, "/v1/users/\(id)").success()
            #expect(shown["email"] == "customer-1@example.com" && shown["email_verified"] == false)
            #expect(shown["phone"] == "+15551234567")
            for body: JSONValue in [["email": "x"], ["phone": "123"], ["email": 1]] {
                #expect(try await shop.call(.POST, "/v1/users", body).status == 422)
            }
        }
    }

    // Spec: OpenID Connect Core 1.0 §5.1 and §5.4.
    @Test("A code by text message signs in, at a number of a listed calling code and at no other")
    func text() async throws {
        let settings: JSONObject = [
            "asked_browsers": "all", "ways": ["device", "qr", "text"], "calling_codes": ["+1555"],
        ]
        try await SignInPageScene.with(settings) { scene in
            let phone: JSONValue = ["phone": "+15551234567"]
            _ = try await scene.scene.shop.call(.PATCH, "/v1/users/\(scene.scene.user)", phone).success()
            func choose(_ number: String) async throws -> Page {
                let first = try await scene.browser.get(scene.request(["scope": "openid phone"]))
                return try await scene.browser.submit(first, to: "/signin/choose", [("identifier", number)])
            }
            // Anybody could have texts sent, and each costs money.
            let foreign = try await choose("+447700900123")
            #expect(!foreign.html.contains("value=\"text\""))
            let refused = try await scene.browser.submit(foreign, to: "/signin/ask", [("way", "text")])
            #expect(refused.status >= 400 && refused.location == nil, "\(refused.reply)")
            let page = try await choose("+1 555 123 4567")
            #expect(page.html.contains("value=\"text\""), "\(page.reply)")
            let asked = try await scene.browser.submit(page, to: "/signin/ask", [("way", "text")])
            let path = try #require(asked.location)
            let field = try await scene.browser.get(path)
            #expect(field.html.contains("autocomplete=\"one-time-code\""))
            var code: String?
            for _ in 0..<200 where code == nil {
                let sent = try await mails(scene).first { $0["to"] == "+15551234567" }?["text"]?.string
                code = sent?.firstMatch(of: #/[0-9]{6}/#).map { String($0.output) }
                if code == nil { try await Task.sleep(for: .milliseconds(25)) }
            }
            let right = try await scene.browser.submit(
                field, to: "\(path)/enter", [("code", try #require(code))])
            #expect(right.status == 303 && right.location == "\(path)/done", "\(right.reply)")
            let done = try await scene.browser.get("\(path)/done")
            let tokens = try await scene.redeem(try #require(done.result["code"])).success()
            let claims = try #require(tokens["id_token"]?.string).split(separator: ".")[1]
            let identity = try JSONValue(parsing: try #require(Base64URL.decode(claims)))
            #expect(identity["acr"] == "urn:countersign:acr:address", "\(identity)")
            #expect(identity["amr"] == ["otp", "sms"], "\(identity)")
            let info = try await scene.userinfo(try #require(tokens["access_token"]?.string)).success()
            #expect(info["phone_number"] == "+15551234567" && info["phone_number_verified"] == true)
        }
    }

    // Modules: oidcc-scope-phone, oidcc-scope-all
    @Test("A client learns the addresses whose scopes it has, and whether they are proved")
    func scopes() async throws {
        try await SignInPageScene.with { scene in
            let phone: JSONValue = ["phone": "+15551234567"]
            _ = try await scene.scene.shop.call(.PATCH, "/v1/users/\(scene.scene.user)", phone).success()
            let sub = JSONValue.string(scene.scene.user)
            let expected: [(String, JSONValue)] = [
                ("openid", ["sub": sub]),
                ("openid email", ["sub": sub, "email": "customer-1@example.com", "email_verified": false]),
                ("openid phone", ["sub": sub, "phone_number": "+15551234567", "phone_number_verified": false]),
                (
                    "openid profile email phone address",
                    [
                        "sub": sub, "email": "customer-1@example.com", "email_verified": false,
                        "phone_number": "+15551234567", "phone_number_verified": false,
                    ]
                ),
            ]
            for (scope, claims) in expected {
                let page = try await scene.signIn(["scope": scope, "prompt": "login"])
                let tokens = try await scene.redeem(try #require(page.result["code"]))
                let info = try await scene.userinfo(try #require(tokens.json["access_token"]?.string))
                #expect(info.json == claims, "\(scope)")
            }
        }
    }
}
