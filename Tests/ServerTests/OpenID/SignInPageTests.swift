import CountersignWire
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

@Suite("Signing in on the hosted pages")
struct SignInPageTests {
    // Modules: oidcc-server, oidcc-userinfo-get, oidcc-userinfo-post-header,
    // oidcc-ensure-request-with-valid-pkce-succeeds
    // Spec: OpenID Connect Core 1.0 §3.1.2, §3.1.3, §3.1.3.3 and §5.3; RFC 6749 §4.1.1, §4.1.3 and §5.1;
    // RFC 7636 §4.6; RFC 9207 §2.
    @Test("From the client's request to its tokens, by the number on the phone")
    func signsIn() async throws {
        try await SignInPageScene.with { scene in
            let (path, page) = try await scene.numberPage()
            #expect(page.heading == "Type this number on your phone" && page.number?.utf8.count == 6)
            let waiting = Task { try await scene.browser.get("\(path)/state?wait=20") }
            try await letItWait()
            try await scene.approve(page)
            #expect(try await waiting.value.reply.json == ["state": "approved", "next": .string("\(path)/done")])
            let done = try await scene.browser.get("\(path)/done")
            #expect(done.status == 200 && done.onward?.hasPrefix(SignInPageScene.redirectURI) == true, "\(done.reply)")
            #expect(done.result["state"] == "s-1" && done.result["iss"] == "\(scene.server.issuer)")
            #expect(scene.browser.cookieNames.count == 3)
            let reply = try await scene.redeem(try #require(done.result["code"]))
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            #expect(reply.json["token_type"] == "Bearer" && reply.json["expires_in"] == 600)
            let keys = try await scene.server.send(.GET, "/oauth2/jwks", isContract: false)
            #expect(keys.headers["content-type"] == "application/jwk-set+json")
            let set = try JWKSet(keys.json)
            let verified = try JWS.verify(
                try #require(reply.json["id_token"]?.string), algorithms: [.rs256], type: .exactly("JWT"), keys: set)
            let claims = try JSONValue(parsing: verified.payload)
            #expect(claims["nonce"] == "n-1" && claims["sub"] == .string(scene.scene.user))
            let access = try #require(reply.json["access_token"]?.string)
            for method in [HTTPMethod.GET, .POST] {
                let info = try await scene.userinfo(access, method)
                #expect(info.status == 200 && info.json == ["sub": .string(scene.scene.user)], "\(info)")
            }
        }
    }

    @Test("A page that is finished twice gives its client nobody else, who has signed in in this browser since")
    func finishedTwice() async throws {
        let settings: JSONObject = ["ways": ["device", "email"], "registration": "open", "asked_browsers": "all"]
        try await SignInPageScene.with(settings) { scene in
            let (path, page) = try await scene.numberPage()
            try await scene.approve(page)
            let done = try await scene.browser.get("\(path)/done")
            #expect(done.result["code"] != nil, "\(done.reply)")
            let again = try await scene.browser.get("\(path)/done")
            #expect(again.result["code"] != nil && again.result["code"] != done.result["code"], "\(again.reply)")
            let other = try await scene.signInByMail("next@example.com", ["prompt": "login"], in: scene.browser)
            #expect(other.result["code"] != nil, "\(other.reply)")
            let late = try await scene.browser.get("\(path)/done")
            #expect(late.status == 404 && late.result.isEmpty, "\(late.reply)")
        }
    }

    @Test("Whoever asks once more as the phone has just approved goes on, and need not begin again")
    func approvedLate() async throws {
        try await SignInPageScene.with { scene in
            let (path, page) = try await scene.numberPage()
            try await scene.approve(page)
            let again = try await scene.browser.submit(page, to: "/signin/ask")
            #expect(again.status == 303 && again.location == path, "\(again.reply)")
            let done = try await scene.browser.get("\(path)/done")
            #expect(done.result["code"] != nil, "\(done.reply)")
            // Now there is nothing left to go on with.
            #expect(try await scene.browser.submit(page, to: "/signin/ask").status == 404)
        }
    }

    @Test("What the person declines ends nothing; cancelling brings the browser back with access_denied")
    func declines() async throws {
        try await SignInPageScene.with { scene in
            _ = try await scene.signIn()
            let (path, page) = try await scene.numberPage("customer-1", ["prompt": "login"])
            _ = try await scene.scene.phone.answer(try await scene.pending(), .denied)
            #expect(try await scene.browser.get("\(path)/state").reply.json["state"] == "declined")
            let ended = try await scene.browser.get(path)
            #expect(ended.number == nil && ended.request != nil)
            // The same sign-in asks again, and can be cancelled.
            let again = try await scene.browser.submit(ended, to: "/signin/ask")
            #expect(again.location == path)
            #expect(try await scene.browser.get(path).number != page.number)
            let back = try await scene.browser.submit(ended, to: "/signin/cancel")
            #expect(back.status == 200 && back.result["error"] == "access_denied" && back.result["state"] == "s-1")
            #expect(back.result["iss"] == "\(scene.server.issuer)" && back.result["code"] == nil)
            #expect(try await scene.browser.get(path).status == 404)
            // The phone has nothing left to answer.
            let left = try await scene.scene.phone.send(.GET, "/v1/enrollments/self/challenges").success()
            #expect(left["challenges"]?.array?.isEmpty == true)
        }
    }

    @Test(
        "From a browser that nobody knows, by the code on the page, which is another one each minute",
        .enabled(if: QRReader.isThere, "zbarimg is not installed"))
    func scans() async throws {
        try await SignInPageScene.with([:]) { scene in
            let first = try await scene.browser.get(scene.request())
            // By default the number is offered only in browsers in which the person has signed in.
            let choice = try await scene.browser.submit(
                first, to: "/signin/choose", [("identifier", "customer-1@example.com")])
            #expect(choice.html.contains("value=\"qr\"") && !choice.html.contains("value=\"device\""))
            let asked = try await scene.browser.submit(first, to: "/signin/ask", [("way", "qr")])
            let path = try #require(asked.location)
            let page = try await scene.browser.get(path)
            #expect(page.html.contains("src=\"\(path)/code\"") && page.number == nil)
            let state = try #require(page.html.firstMatch(of: #/data-state="([^"]*)"/#)).output.1
            #expect(try await scene.browser.get("\(state)").reply.json["state"] == "open")
            let picture = try await scene.browser.get("\(path)/code")
            #expect(picture.reply.headers["content-type"] == "image/svg+xml")
            #expect(try await TestBrowser(scene.server).get("\(path)/code").status == 404)
            // A minute later the page is to be got again, with another code.
            scene.server.clock.advance(seconds: 60)
            #expect(try await scene.browser.get("\(state)").reply.json["state"] == "ended")
            let later = try await scene.browser.get("\(path)/code")
            #expect(later.reply.body != picture.reply.body)
            let text = try QRReader.read(svg: later.html)
            let code = try #require(ChallengeCode(text))
            let challenge = "\(code.challenge)"
            let claim: JSONValue = [
                "transaction_id": .string(challenge), "otp": .string(code.otp.reveal()), "via": "qr",
            ]
            let waiting = Task { try await scene.browser.get("\(path)/state?wait=20&seen=open") }
            try await letItWait()
            #expect(try await scene.scene.phone.send(.POST, "/v1/challenges/claim", claim).status < 300)
            #expect(try await waiting.value.reply.json["state"] == "scanned")
            let deciding = Task { try await scene.browser.get("\(path)/state?wait=20&seen=scanned") }
            try await letItWait()
            _ = try await scene.scene.phone.answer(challenge, .approved(.confirm, number: nil))
            #expect(try await deciding.value.reply.json["state"] == "approved")
            let done = try await scene.browser.get("\(path)/done")
            #expect(try await scene.redeem(try #require(done.result["code"])).status == 200)
            // The browser is known now.
            let fresh = try await scene.browser.get(scene.request(["prompt": "login"]))
            let next = try await scene.browser.submit(
                fresh, to: "/signin/choose", [("identifier", "customer-1@example.com")])
            #expect(next.html.contains("value=\"device\""))
            // The code was chosen last.
            #expect(next.html.contains("class=\"way filled\" name=\"way\" value=\"qr\""))
        }
    }

    @Test("A way that was chosen is not offered for that, and is shown first where it is")
    func lastWay() async throws {
        try await SignInPageScene.with(["ways": ["device", "qr", "email"]]) { scene in
            func choice() async throws -> String {
                let page = try await scene.browser.get(scene.request())
                let choice = try await scene.browser.submit(
                    page, to: "/signin/choose", [("identifier", "customer-1@example.com")])
                return choice.html
            }
            func isFirst(_ way: String, of page: String) -> Bool {
                page.contains("class=\"way filled\" name=\"way\" value=\"\(way)\"")
            }
            #expect(isFirst("qr", of: try await choice()))
            for (chosen, first) in [("device", "qr"), ("email", "email"), ("qr", "qr")] {
                let page = try await scene.browser.get(scene.request(["login_hint": "customer-1@example.com"]))
                let asked = try await scene.browser.submit(page, to: "/signin/ask", [("way", chosen)])
                #expect(asked.status == 303, "\(chosen)")
                let next = try await choice()
                #expect(isFirst(first, of: next) && !next.contains("value=\"device\""), "\(chosen)")
            }
        }
    }

    @Test("A sign-in is seen and finished only in the browser that began it")
    func otherBrowser() async throws {
        try await SignInPageScene.with { scene in
            let (path, page) = try await scene.numberPage()
            let other = TestBrowser(scene.server)
            _ = try await other.get(scene.request())
            for browser in [other, TestBrowser(scene.server)] {
                #expect(try await browser.get(path).status == 404)
                #expect(try await browser.get("\(path)/done").status == 404)
            }
            #expect(try await other.get("\(path)/state").reply.json["state"] == "ended")
            // A form from another browser does not open here.
            for target in ["choose", "ask", "cancel", "start"] {
                let reply = try await other.submit(
                    page, to: "/signin/\(target)", [("identifier", "customer-1@example.com")])
                #expect(reply.status == 400 && reply.location == nil, "\(target): \(reply.reply)")
                let bare = try await other.post("/signin/\(target)", [("identifier", "customer-1@example.com")])
                #expect(bare.status == 400, "\(target)")
            }
            try await scene.approve(page)
            #expect(try await other.get("\(path)/done").status == 404)
            #expect(try await scene.browser.get("\(path)/done").result["code"] != nil)
            #expect(try await other.get("\(path)/done").status == 404)
        }
    }

    @Test("A page that was open for half an hour is too old")
    func tooOld() async throws {
        try await SignInPageScene.with { scene in
            let page = try await scene.browser.get(scene.request())
            scene.server.clock.advance(seconds: 1800)
            let reply = try await scene.browser.submit(
                page, to: "/signin/choose", [("identifier", "customer-1@example.com")])
            #expect(reply.status == 400 && reply.heading?.isEmpty == false)
        }
    }

    // Spec: RFC 7034 §2, RFC 8246 §2.
    @Test(
        "Every page may load nothing but our own files, is in no frame, is kept nowhere, and tells nobody its address")
    func fields() async throws {
        try await SignInPageScene.with { scene in
            let first = try await scene.browser.get(scene.request())
            let (path, page) = try await scene.numberPage()
            let error = try await scene.browser.get("/oauth2/authorize?client_id=x")
            let cancelled = try await scene.browser.submit(page, to: "/signin/cancel")
            for page in [first, page, error, cancelled, try await scene.browser.get(path)] {
                let headers = page.reply.headers
                let policy = headers["content-security-policy"] ?? ""
                for directive in [
                    "default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'",
                    "frame-ancestors 'none'", "base-uri 'none'",
                ] { #expect(policy.contains(directive), "\(policy)") }
                #expect(headers["x-frame-options"] == "DENY" && headers["referrer-policy"] == "no-referrer")
                #expect(headers["cache-control"] == "no-store" && headers["x-content-type-options"] == "nosniff")
                #expect(headers["content-type"] == "text/html; charset=utf-8")
            }
            let css = try #require(first.html.firstMatch(of: #/href="(\/assets\/[^"]*)"/#)).output.1
            let asset = try await scene.browser.get(String(css))
            #expect(asset.status == 200 && asset.reply.headers["cache-control"]?.contains("immutable") == true)
        }
    }

    @Test("The pages speak the language that the client or the browser asks for")
    func languages() async throws {
        try await SignInPageScene.with { scene in
            let english = try await scene.browser.get(scene.request())
            let byClient = try await scene.browser.get(scene.request(["ui_locales": "de-AT en"]))
            let byBrowser = try await scene.browser.get(
                scene.request(), headers: [("Accept-Language", "fr, de;q=0.8, en;q=0.5")])
            #expect(english.html.contains("lang=\"en\"") && byClient.html.contains("<html lang=\"de\""))
            #expect(byBrowser.heading == byClient.heading && byClient.heading != english.heading)
            // The language that was chosen goes on with the request.
            let switched = try await scene.browser.submit(english, to: "/signin/start", [("ui_locales", "de")])
            let chosen = try await scene.browser.submit(
                switched, to: "/signin/choose", [("identifier", "x@example.com")])
            #expect(chosen.html.contains("<html lang=\"de\""))
        }
    }

    @Test("An unknown browser's pages are the same, byte for byte, for a no, a report, silence and nobody")
    func samePages() async throws {
        try await SignInPageScene.with { scene in
            struct Shown {
                let path: String
                let browser: TestBrowser
                var texts: [String] = []
            }
            var all: [Shown] = []
            func see(_ shown: inout Shown, _ name: String) async throws {
                for path in [shown.path, "\(shown.path)/state"] {
                    let page = try await shown.browser.get(path)
                    // Names of scripts, times and a sealed request may hold what looks like half of the number.
                    var text = "\(page.status) \(page.html)".replacing(#/-[0-9a-f]{16}\./#, with: ".")
                    if let sealed = page.request { text = text.replacing(sealed, with: "\(sealed.utf8.count) letters") }
                    if let number = page.number {
                        for half in [number.prefix(3), number.suffix(3)] {
                            text = text.replacing("<span>\(half)</span>", with: "<span>###</span>")
                        }
                    }
                    // What is left are the number's words and the times.
                    text = text.replacing(
                        #/aria-label="[0-9 ,]+"|[0-9]{10}|[0-9]{1,2}:[0-9]{2}(:[0-9]{2}Z)?/#, with: "")
                    shown.texts.append(
                        text.replacing("\(name)@example.com", with: "name").replacing(shown.path, with: "path"))
                }
            }
            for (name, decision) in [
                ("customer-9", nil), ("customer-1", Decision.denied), ("customer-1", .reported), ("customer-1", nil),
            ] as [(String, Decision?)] {
                let browser = TestBrowser(scene.server)
                let (path, _) = try await scene.numberPage(name, in: browser)
                var shown = Shown(path: path, browser: browser)
                try await see(&shown, name)
                if let decision {
                    let answer = try await scene.scene.phone.answer(try await scene.pending(), decision)
                    #expect(answer.status == 200, "\(answer)")
                }
                try await see(&shown, name)
                all.append(shown)
            }
            scene.server.clock.advance(seconds: 120)
            for place in all.indices { try await see(&all[place], place == 0 ? "customer-9" : "customer-1") }
            let nobody = try #require(all.first).texts
            #expect(nobody.count == 6 && nobody[1] != nobody[5])
            for shown in all.dropFirst() {
                for (text, other) in zip(shown.texts, nobody) { #expect(text == other) }
            }
        }
    }

    @Test("A page that waits changes its language and goes on waiting, and its errors name the client in that language")
    func languageWhileWaiting() async throws {
        try await SignInPageScene.with { scene in
            let (path, page) = try await scene.numberPage()
            let id = try await scene.pending()
            #expect(page.html.contains("<html lang=\"en\""))
            #expect(page.html.contains("formaction=\"\(path)/language\""), "\(page.html)")
            for other in [TestBrowser(scene.server), TestBrowser(scene.server)] {
                let stranger = try await other.get(scene.request())
                let refused = try await other.submit(stranger, to: "\(path)/language", [("ui_locales", "de")])
                #expect(refused.status == 404, "\(refused.reply)")
            }
            let switched = try await scene.browser.submit(page, to: "\(path)/language", [("ui_locales", "de")])
            #expect(switched.status == 303 && switched.location == path, "\(switched.reply)")
            let german = try await scene.browser.get(path)
            #expect(german.html.contains("<html lang=\"de\"") && german.number == page.number)
            #expect(try await scene.pending() == id)
            try await scene.approve(german)
            #expect(try await scene.browser.get("\(path)/done").result["code"] != nil)
            let late = try await scene.browser.submit(german, to: "/signin/cancel")
            #expect(late.status == 409 && late.html.contains("<html lang=\"de\""), "\(late.reply)")
            #expect(late.html.contains("Beginnen Sie bei"), "\(late.html)")
        }
    }

    @Test("A page on which nothing can be typed changes its language and stays what it is")
    func languageOfChoice() async throws {
        try await SignInPageScene.with { scene in
            let choice = try await scene.browser.get(scene.request(["login_hint": "external_id:customer-1"]))
            let german = try await scene.browser.inGerman(choice)
            #expect(german.html.contains("value=\"device\"") && choice.html.contains("value=\"device\""))
            let asked = try await scene.browser.submit(german, to: "/signin/ask", [("way", "device")])
            let number = try await scene.browser.get(try #require(asked.location))
            #expect(number.language == "de")
            try await scene.approve(number)
            let approved = try await scene.browser.get(try #require(asked.location))
            let english = try await scene.browser.submit(
                approved, to: try #require(approved.languagePath), [("ui_locales", "en")])
            #expect(try await scene.browser.get(try #require(english.location)).language == "en")
            #expect(try await scene.browser.get("\(try #require(asked.location))/done").result["code"] != nil)
        }
    }

    @Test("The language of one sign-in changes twenty times an hour")
    func languageLimit() async throws {
        try await SignInPageScene.with { scene in
            let (path, page) = try await scene.numberPage()
            for number in 0..<20 {
                let language = number.isMultiple(of: 2) ? "de" : "en"
                let switched = try await scene.browser.submit(page, to: "\(path)/language", [("ui_locales", language)])
                #expect(switched.status == 303, "\(number)")
            }
            let refused = try await scene.browser.submit(page, to: "\(path)/language", [("ui_locales", "de")])
            #expect(refused.status == 429, "\(refused.reply)")
            let seconds = refused.reply.headers["retry-after"].flatMap { Int($0) }
            #expect(seconds.map { (3000...3600).contains($0) } == true)
            #expect(try await scene.browser.get(path).language == "en")
        }
    }

    @Test("Of three tabs one signs in; another offers to go on as they are, and one of somebody else does not")
    func tabs() async throws {
        try await SignInPageScene.with(["asked_browsers": "all", "ways": ["device", "email"]]) { scene in
            let waits = try await scene.numberPage("customer-1", ["state": "s-2"])
            _ = try await scene.pending()
            let other = try await scene.numberPage("somebody", ["state": "s-3"])
            func state(of path: String) async throws -> JSONValue {
                try await scene.browser.get("\(path)/state").reply.json
            }
            #expect(try await state(of: waits.path)["state"] == "open")
            let first = try await scene.signInByMail("customer-1@example.com", in: scene.browser)
            #expect(first.result["state"] == "s-1", "\(first.reply)")
            let told = try await state(of: waits.path)
            #expect(told["state"] == "offered" && told["next"] == .string(waits.path), "\(told)")
            #expect(try await state(of: other.path)["state"] == "open")
            #expect(try await scene.browser.get(other.path).heading == other.page.heading)
            let offer = try await scene.browser.get(waits.path)
            #expect(offer.html.contains("/signin/go-on") && offer.html.contains("customer-1@example.com"))
            let done = try await scene.browser.submit(offer, to: "/signin/go-on", [])
            #expect(done.result["state"] == "s-2" && done.result["code"] != nil, "\(done.reply)")
            // The phone is asked no more.
            let asked = try await scene.scene.phone.send(.GET, "/v1/enrollments/self/challenges").success()
            #expect(asked["challenges"]?.array?.isEmpty == true, "\(asked)")
            #expect(try await scene.browser.get(waits.path).status == 404)
        }
    }

    @Test("Whoever signs in anew in a tab that offers to go on is asked as before")
    func tabAskedAnew() async throws {
        try await SignInPageScene.with(["asked_browsers": "all", "ways": ["device", "email"]]) { scene in
            let waits = try await scene.numberPage()
            _ = try await scene.signInByMail("customer-1@example.com", in: scene.browser)
            let offer = try await scene.browser.get(waits.path)
            #expect(offer.html.contains("/signin/go-on"), "\(offer.reply)")
            let again = try await scene.browser.submit(offer, to: "/signin/ask", [("way", "device")])
            #expect(again.location == waits.path, "\(again.reply)")
            #expect(try await scene.browser.get(waits.path).number != nil)
            #expect(try await scene.browser.get("\(waits.path)/state").reply.json["state"] == "open")
        }
    }

    @Test("A page whose client wants a new authentication offers nobody to go on")
    func freshTab() async throws {
        try await SignInPageScene.with(["asked_browsers": "all", "ways": ["device", "email"]]) { scene in
            let fresh = try await scene.numberPage("customer-1", ["prompt": "login"])
            _ = try await scene.signInByMail("customer-1@example.com", in: scene.browser)
            #expect(try await scene.browser.get("\(fresh.path)/state").reply.json["state"] == "open")
            #expect(try await scene.browser.get(fresh.path).heading == fresh.page.heading)
        }
    }

    @Test("Pages that say what is wrong speak the browser's language, too")
    func errorLanguages() async throws {
        try await SignInPageScene.with { scene in
            let gone = "/signin/aut_01m7yfdqve7kp86cjznhx1qer1"
            let links = [
                scene.request(["client_id": "cli_x"]), scene.request(["redirect_uri": "https://elsewhere.example/"]),
                gone, "\(gone)/link/x", "\(gone)/nowhere",
            ]
            for (accepted, language) in [("de-AT, en;q=0.5", "de"), ("fr", "en")] {
                for link in links {
                    let page = try await scene.browser.get(link, headers: [("Accept-Language", accepted)])
                    #expect(page.html.contains("<html lang=\"\(language)\""), "\(link): \(page.reply)")
                }
                for form in ["/signin/choose", "/signin/ask", "/oauth2/logout/answer"] {
                    let page = try await scene.browser.post(
                        form, [("x", "y")], headers: [("Accept-Language", accepted)])
                    #expect(page.html.contains("<html lang=\"\(language)\""), "\(form): \(page.reply)")
                }
            }
        }
    }

    @Test("An empty or refused identifier is asked for again, with what was typed")
    func identifier() async throws {
        try await SignInPageScene.with { scene in
            let first = try await scene.browser.get(scene.request(["login_hint": "somebody@example.com"]))
            #expect(first.html.contains("value=\"somebody@example.com\""))
            // The client's own name for a person is not asked for.
            let named = try await scene.browser.get(scene.request(["login_hint": "external_id:customer-1"]))
            #expect(named.html.contains("value=\"device\""))
            // It may be any text, and the page does not say it: only who has named them.
            let changing = #/The person whom <bdi>[^<]*</bdi> has named/#
            #expect(!named.html.contains("customer-1") && named.html.contains(changing), "\(named.html)")
            let fresh = try await scene.browser.get(scene.request())
            for typed in ["", "customer-1", "a\u{202E}b@example.com", String(repeating: "x", count: 300)] {
                let page = try await scene.browser.submit(fresh, to: "/signin/choose", [("identifier", typed)])
                #expect(page.status == 200 && page.html.contains("aria-invalid"), "\(page.reply)")
            }
        }
    }

    @Test("An export of the person holds their sessions and tokens; who is deleted leaves none")
    func exported() async throws {
        try await SignInPageScene.with { scene in
            _ = try await scene.redeem(try #require(try await scene.signIn().result["code"]))
            func parts(_ caller: Caller, _ path: String) async throws -> [String] {
                let reply = try await caller.call(.GET, "\(path)/\(scene.scene.user)/export")
                return String(decoding: reply.body, as: UTF8.self).split(separator: "\n").compactMap { line in
                    (try? JSONValue(parsing: Array(line.utf8)))?.object?.members.first?.name
                }
            }
            let own = try await parts(scene.scene.shop, "/v1/users")
            #expect(own.contains("tokens") && !own.contains("session"))
            let all = try await parts(scene.scene.administrator, "/v1/admin/users")
            #expect(all.contains("tokens") && all.contains("session"))
            let deleted = try await scene.scene.administrator.call(.DELETE, "/v1/admin/users/\(scene.scene.user)")
            #expect(deleted.status == 204, "\(deleted)")
            let left = try await parts(scene.scene.administrator, "/v1/admin/users")
            #expect(!left.contains("tokens") && !left.contains("session"))
            #expect(try await scene.browser.get(scene.request(["prompt": "none"])).result["error"] == "login_required")
        }
    }

    @Test("Three requests of a browser wait at a time; further ones are refused at once")
    func waits() async throws {
        try await SignInPageScene.with { scene in
            let (path, page) = try await scene.numberPage()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 { group.addTask { try await scene.browser.get("\(path)/state?wait=20").status } }
                try await letItWait()
                try await scene.approve(page)
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200, 200, 200, 429, 429])
        }
    }

    @Test("A page that is got again gives the client another code; what cannot be read ends nothing")
    func again() async throws {
        try await SignInPageScene.with { scene in
            let (path, page) = try await scene.numberPage()
            for until in ["9223372036854775807", "-9223372036854775808", "x", "99999999999999999999"] {
                let state = try await scene.browser.get("\(path)/state/\(until)?wait=-9223372036854775808")
                #expect(state.reply.json["state"] == "open", "\(until)")
            }
            try await scene.approve(page)
            let first = try #require(try await scene.browser.get("\(path)/done").result["code"])
            let second = try #require(try await scene.browser.get("\(path)/done").result["code"])
            #expect(first != second)
            #expect(try await scene.redeem(second).status == 200)
            let cancelled = try await scene.browser.submit(page, to: "/signin/cancel")
            #expect(cancelled.status == 409 && cancelled.location == nil && cancelled.onward == nil)
            // Too many sign-ins of a network.
            var last = try await scene.browser.submit(page, to: "/signin/ask")
            for _ in 0..<61 where last.status != 429 { last = try await scene.browser.submit(page, to: "/signin/ask") }
            #expect(last.status == 429 && last.reply.headers["retry-after"] != nil)
        }
    }

    @Test("A visit alone writes nothing")
    func visit() async throws {
        try await SignInPageScene.with { scene in
            let before = try await scene.scene.snapshot()
            let first = try await scene.browser.get(scene.request())
            _ = try await scene.browser.submit(first, to: "/signin/choose", [("identifier", "customer-1@example.com")])
            #expect(try await scene.scene.snapshot() == before)
        }
    }
}
