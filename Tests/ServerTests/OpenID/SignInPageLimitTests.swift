import Encodings
import Encodings
import ServerTestSupport
import Testing

// The limits that a caller's network has at the doors. Spec: docs/reference/limits.md.
@Suite("What one network may bring about on the pages and at the token endpoint")
struct SignInPageLimitTests {
    @Test("A network begins sixty sign-ins a minute, whatever it says about itself and in whichever browser")
    func network() async throws {
        try await SignInPageScene.with { scene in
            let request = try #require(try await scene.browser.get(scene.request()).request)
            for number in 0..<60 {
                let address = "198.51.100.\(number)"
                let asked = try await scene.browser.post(
                    "/signin/ask", [("request", request), ("way", "qr")],
                    headers: [
                        ("X-Forwarded-For", address), ("X-Real-IP", address), ("Forwarded", "for=\(address)"),
                    ])
                #expect(asked.status == 303, "\(asked.reply)")
            }
            let other = TestBrowser(scene.server)
            let page = try await other.get(scene.request())
            let lies: [[(String, String)]] = [
                [], [("X-Forwarded-For", "198.51.100.99")], [("Forwarded", "for=198.51.100.99")],
            ]
            for headers in lies {
                let fields = [("request", try #require(page.request)), ("way", "qr")]
                let refused = try await other.post("/signin/ask", fields, headers: headers)
                #expect(refused.status == 429 && refused.location == nil, "\(refused.reply)")
                let seconds = refused.reply.headers["retry-after"].flatMap { Int($0) } ?? 0
                #expect((1...60).contains(seconds))
            }
            scene.server.clock.advance(seconds: 61)
            #expect(try await other.submit(page, to: "/signin/ask", [("way", "qr")]).status == 303)
        }
    }

    @Test("Thirty requests of a network wait at a time, whatever browsers they come from")
    func waits() async throws {
        try await SignInPageScene.with { scene in
            var open: [(browser: TestBrowser, path: String, page: Page)] = []
            for number in 0..<11 {
                let browser = TestBrowser(scene.server)
                let (path, page) = try await scene.numberPage("nobody-\(number)", in: browser)
                open.append((browser, path, page))
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for (browser, path, _) in open {
                    for _ in 0..<3 { group.addTask { try await browser.get("\(path)/state?wait=25").status } }
                }
                // Who may not wait is told at once; the others wait for their sign-ins to end.
                var statuses: [Int] = []
                while statuses.count < 3, let status = try await group.next() { statuses.append(status) }
                for (browser, _, page) in open { _ = try await browser.submit(page, to: "/signin/cancel") }
                for try await status in group { statuses.append(status) }
                return statuses
            }
            #expect(statuses == Array(repeating: 429, count: 3) + Array(repeating: 200, count: 30))
        }
    }

    @Test("Wrong assertions of clients meet the limit of their network, which shuts out no right credential")
    func assertions() async throws {
        try await SignInPageScene.with { scene in
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            func send(_ number: Int) async throws -> Reply {
                try await scene.token([
                    ("grant_type", "client_credentials"), ("client_assertion_type", type),
                    ("client_assertion", "a.b.\(number)"),
                ])
            }
            for number in 0..<100 {
                let reply = try await send(number)
                #expect(reply.status == 401 && reply.json["error"] == "invalid_client", "\(reply)")
            }
            let refused = try await send(100)
            #expect(refused.status == 429 && refused.json["error"] == "temporarily_unavailable", "\(refused)")
            #expect(refused.headers["retry-after"] != nil)
            let right = try await scene.token([("token", "x")], basic: scene.credential, at: "/oauth2/introspect")
            #expect(right.status == 200, "\(right)")
        }
    }
}
