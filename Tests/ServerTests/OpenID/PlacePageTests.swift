import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0083-places.md.
@Suite("Places beside the addresses that people see")
struct PlacePageTests {
    private static let firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0"
    /// What the proxy says of a browser in Cologne.
    private static let headers = [("X-Forwarded-For", "203.0.113.7"), ("User-Agent", firefox)]

    /// A scene on a server with a database of places, behind a proxy.
    private static func with(
        trusting networks: [String] = ["127.0.0.1"],
        _ body: @escaping @Sendable (SignInPageScene) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("places.mmdb", PlacesTests.sample().file)
        try await TestServer.with(
            dataFolder: folder.path("data"),
            settings: {
                $0.placesDatabase = path
                $0.proxies = TrustedProxies(networks: networks.compactMap { Network($0) })
            }
        ) { server in
            let scene = try await Scene.make(server)
            let made = SignInPageScene(
                scene: scene, browser: TestBrowser(server), credential: scene.shop.credential)
            try await made.set(["asked_browsers": "all", "ways": ["device", "qr", "email"]])
            let claim: JSONValue = ["email": "customer-1@example.com"]
            #expect(try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", claim).status == 200)
            try await body(made)
        }
    }

    private static func submit(
        _ scene: SignInPageScene, _ page: Page, to path: String, _ fields: [(String, String)]
    ) async throws -> Page {
        let request = try #require(page.request, "\(page.reply)")
        return try await scene.browser.post(path, [("request", request)] + fields, headers: headers)
    }

    /// From the client's request to the page that waits.
    private static func ask(
        _ scene: SignInPageScene, by way: String, _ changes: KeyValuePairs<String, String?> = [:]
    ) async throws -> (path: String, page: Page) {
        let first = try await scene.browser.get(scene.request(changes), headers: headers)
        let name = [("identifier", "customer-1@example.com")]
        let second = try await submit(scene, first, to: "/signin/choose", name)
        let asked = try await submit(scene, second, to: "/signin/ask", [("way", way)])
        let path = try #require(asked.location, "\(asked.reply)")
        return (path, try await scene.browser.get(path, headers: headers))
    }

    @Test(
        "Page and phone name the same place, in the language of the page",
        arguments: [("en", "Cologne, Germany"), ("de", "Köln, Deutschland")])
    func number(_ language: String, _ place: String) async throws {
        try await Self.with { scene in
            let (_, page) = try await Self.ask(scene, by: "device", ["ui_locales": language])
            #expect(page.html.contains("<strong><bdi>\(place)</bdi></strong>"), "\(page.html)")
            #expect(page.html.contains("<bdi>\(place)</bdi>, <bdi dir=\"ltr\">203.0.113.7</bdi>"))
            let body = try await scene.scene.phone.open(try await scene.pending())
            #expect(body.question.context?.text == "Firefox on Windows, 203.0.113.7, \(place)")
            // The receipt holds the same line, which phone and server compare byte for byte.
            try await scene.approve(page)
        }
    }

    @Test("The phone names the place of a device without a browser, in the language that the device asks for")
    func device() async throws {
        try await Self.with { scene in
            try await scene.set([
                "profile": "native", "asked_browsers": "all", "device_grant": true, "device_login_hint": true,
            ])
            let fields = [
                ("client_id", scene.credential.id), ("login_hint", "customer-1@example.com"), ("ui_locales", "x de-AT"),
            ]
            let begun = try await scene.server.send(
                .POST, "/oauth2/device_authorization",
                headers: Self.headers + [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(FormText.encoded(fields).utf8), isContract: false)
            #expect(begun.status == 200, "\(begun)")
            let body = try await scene.scene.phone.open(try await scene.pending())
            #expect(body.question.context?.text == "Firefox on Windows, 203.0.113.7, Köln, Deutschland")
        }
    }

    @Test("A device elsewhere, or who knows where, is stopped first; one in the reader's place or network is not")
    func deviceElsewhere() async throws {
        try await Self.with { scene in
            try await scene.set(["profile": "native", "asked_browsers": "all", "device_grant": true])
            _ = try await scene.signIn()
            let (differ, unknown) = ("The places differ", "We do not know where the device is")
            for (there, here, warning) in [
                ("203.0.113.200", "203.0.113.7", nil), ("198.51.100.7", "203.0.113.7", differ),
                ("198.51.100.7", "192.0.2.1", differ), ("192.0.2.1", "203.0.113.7", unknown),
                ("192.0.2.1", "192.0.2.1", nil), ("192.0.2.1", "192.0.2.2", unknown),
                ("2001:db8:9::1", "2001:db8:9::2", nil), ("2001:db8:9::1", "2001:db8:9:1::1", unknown),
                // Everybody's, behind a proxy that this server does not know.
                ("10.0.0.7", "10.0.0.7", unknown), ("203.0.113.7", "2001:db8:1::1", differ),
            ] as [(String, String, String?)] {
                let fields = [("Content-Type", "application/x-www-form-urlencoded"), ("X-Forwarded-For", there)]
                let begun = try await scene.server.send(
                    .POST, "/oauth2/device_authorization", headers: fields,
                    body: Array("client_id=\(scene.credential.id)".utf8), isContract: false)
                let code = try #require(begun.json["user_code"]?.string, "\(begun)")
                let place = [("X-Forwarded-For", here)]
                let empty = try await scene.browser.get("/device", headers: place)
                let request = try #require(empty.request, "\(empty.reply)")
                let page = try await scene.browser.post(
                    "/device", [("request", request), ("user_code", code)], headers: place)
                #expect(page.heading == "Did you start this, on a device in front of you?", "\(page.reply)")
                for words in [differ, unknown] { #expect(page.html.contains(words) == (words == warning)) }
                let first = try #require(page.html.firstRange(of: "name=\"decision\" value="))
                let isStopped = page.html[first.upperBound...].hasPrefix("\"no\"")
                #expect(isStopped == (warning != nil), "\(there) from \(here)")
                #expect(page.html.contains("class=\"filled danger\"") == isStopped)
            }
        }
    }

    @Test("A page that is looked at from elsewhere names what the phone names: from where it was asked")
    func movedOn() async throws {
        try await Self.with { scene in
            let (path, _) = try await Self.ask(scene, by: "device")
            let page = try await scene.browser.get(path, headers: [("X-Forwarded-For", "198.51.100.7")])
            #expect(page.html.contains("<bdi>Cologne, Germany</bdi>, <bdi dir=\"ltr\">203.0.113.7</bdi>"))
            #expect(!page.html.contains("Portugal") && !page.html.contains("198.51.100.7"))
        }
    }

    @Test("The account page names the place of each session, in its own language")
    func sessions() async throws {
        try await Self.with { scene in
            let made = try await scene.server.makeClient("Acme account")
            let settings: JSONValue = [
                "profile": "web", "redirect_uris": [.string("\(scene.server.issuer)/account")], "asked_browsers": "all",
                "registration": "known",
            ]
            let set = try await scene.scene.administrator.call(
                .PUT, "/v1/admin/clients/\(made.credential.id)/openid", settings)
            #expect(set.status == 200, "\(set)")
            let (path, page) = try await Self.ask(scene, by: "device", ["ui_locales": "de"])
            try await scene.approve(page)
            #expect(try await scene.browser.get("\(path)/done").result["code"] != nil)
            let account = try await scene.browser.get("/account")
            #expect(account.html.contains("<bdi>Cologne, Germany, 203.0.113.7</bdi>. "), "\(account.html)")
            let german = try await scene.browser.get("/account?ui_locales=de")
            #expect(german.html.contains("<bdi>Köln, Deutschland, 203.0.113.7</bdi>. "))
        }
    }

    @Test("A mail with a code names the place, and so does its link in another browser")
    func mail() async throws {
        try await Self.with { scene in
            _ = try await Self.ask(scene, by: "email")
            var link: String?
            for _ in 0..<200 where link == nil {
                let mails = try await scene.server.send(.GET, "/dev/outbox").success()["messages"]?.array ?? []
                for text in mails.compactMap({ $0["text"]?.string }) {
                    #expect(text.contains("Firefox on Windows, 203.0.113.7, Cologne, Germany"), "\(text)")
                    link = text.firstMatch(of: #/\/signin\/[^\s]*/#).map { String($0.output) }
                }
                if link == nil { try await Task.sleep(for: .milliseconds(25)) }
            }
            let elsewhere = try await TestBrowser(scene.server).get(try #require(link))
            #expect(elsewhere.heading == "This is not the browser you began in")
            #expect(elsewhere.html.contains("Cologne, Germany, 203.0.113.7"), "\(elsewhere.html)")
        }
    }

    @Test("A caller who is no trusted proxy chooses no place")
    func untrusted() async throws {
        try await Self.with(trusting: []) { scene in
            let (_, page) = try await Self.ask(scene, by: "device")
            #expect(page.html.contains("<strong><bdi>127.0.0.1</bdi></strong>"))
            #expect(!page.html.contains("Cologne") && !page.html.contains("203.0.113.7"))
            let body = try await scene.scene.phone.open(try await scene.pending())
            #expect(body.question.context?.text == "Firefox on Windows, 127.0.0.1")
        }
    }

    @Test(
        "What a relying party says of an address gets its place from the server, in the language of the question",
        arguments: [
            ("203.0.113.7", nil, "203.0.113.7, Cologne, Germany"),
            ("203.0.113.7", "de-AT", "203.0.113.7, Köln, Deutschland"),
            ("2001:db8:1::7", "fr", "2001:db8:1::7, Lissabon, Portugal"), ("192.168.1.1", "de", "192.168.1.1"),
            ("192.0.2.1", nil, "192.0.2.1"),
        ] as [(String, String?, String)])
    func relyingParty(_ address: String, _ locale: String?, _ line: String) async throws {
        try await Self.with { scene in
            var members: JSONObject = ["context": ["ip": .string(address)]]
            members["locale"] = locale.map(JSONValue.string)
            let asked = try await scene.scene.ask(members)
            let body = try await scene.scene.phone.open(asked.id)
            #expect(body.question.context?.text == line)
            let approved = try await scene.scene.approve(asked)
            #expect(approved.status == 200, "\(approved)")
        }
    }

    @Test("The question about a further device names the place that it enrolls from")
    func furtherDevice() async throws {
        try await Self.with { scene in
            let invitation = try await scene.scene.shop.makeTicket(for: scene.scene.user)
            let other = try await TestPhone(invitation: invitation, server: scene.server)
            let body = try other.enrollmentRequest.encoded
            let signed = try await other.signature(
                .POST, "/v1/enrollments", body: body, keyID: "\(other.certificate.fingerprint)")
            let reply = try await scene.server.send(
                .POST, "/v1/enrollments", headers: signed + [("X-Forwarded-For", "203.0.113.7")], body: body)
            #expect(reply.status < 300, "\(reply)")
            let question = try await scene.scene.phone.open(try await scene.pending()).question
            #expect(question.type == .newDevice && question.context?.text == "203.0.113.7, Cologne, Germany")
        }
    }
}
