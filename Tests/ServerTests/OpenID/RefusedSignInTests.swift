import AsyncHTTPClient
import CountersignServer
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

// Spec: OWASP ASVS 16.3.1.
@Suite("Whom a page does not sign in is in the log, and is counted")
struct RefusedSignInTests {
    @Test("Wrong codes, wrong passkeys and too many asks, the same for a name that nobody knows, and without the name")
    func logged() async throws {
        let folder = try TemporaryFolder()
        let log = LogBook()
        let port = FreePort.next()
        let metrics = ListenAddress("127.0.0.1:\(port)")
        try await TestServer.with(
            dataFolder: folder.path("data"), logger: log.logger,
            settings: {
                $0.metrics = metrics
                $0.issuer = Issuer("http://localhost:\($0.port)")
            }
        ) { server in
            let base = try await Scene.make(server)
            let scene = SignInPageScene(scene: base, browser: TestBrowser(server), credential: base.shop.credential)
            try await scene.set(["asked_browsers": "all", "ways": ["device", "email", "passkey"]])
            let claim: JSONValue = ["email": "customer-1@example.com"]
            #expect(try await base.shop.call(.PATCH, "/v1/users/\(base.user)", claim).status == 200)
            for name in ["customer-1", "customer-0"] {
                let earlier = log.entries.count
                let request = try await Self.doEverythingWrong("\(name)@example.com", scene)
                let lines = log.entries.dropFirst(earlier).filter { $0.hasPrefix("notice sign-in refused ") }
                let read = lines.compactMap { line in
                    line.firstMatch(of: #/ client=(\S+) code=(\S+) request=\S+ way=(\S+)$/#).map {
                        "\($0.1) \($0.2) \($0.3)"
                    }
                }
                let expected =
                    Array(repeating: "wrong_code email", count: 4) + Array(repeating: "code_over email", count: 2)
                    + ["too_many email", "passkey_refused passkey"]
                #expect(read == expected.map { "\(scene.credential.id) \($0)" }, "\(lines)")
                #expect(lines.allSatisfy { !$0.contains(name) && !$0.contains("example.com") })
                #expect(lines.last?.contains("request=\(request) ") == true)
            }
            let response = try await TestHTTP.client.execute(
                HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics"), timeout: .seconds(30))
            let page = String(buffer: try await response.body.collect(upTo: 1 << 20))
            for sample in [
                "wrong_code\"} 8", "code_over\"} 4", "too_many\"} 2", "passkey_refused\"} 2", "passkey_waiting\"} 0",
            ] {
                #expect(page.contains("countersign_sign_in_refusals_total{reason=\"\(sample)\n"), "\(sample)")
            }
        }
    }

    /// Types six wrong codes, asks for codes until there are too many, and brings a passkey that nobody knows.
    ///
    /// - Returns: the id of the last request.
    private static func doEverythingWrong(_ name: String, _ scene: SignInPageScene) async throws -> String {
        let browser = TestBrowser(scene.server)
        let first = try await browser.get(scene.request())
        let second = try await browser.submit(first, to: "/signin/choose", [("identifier", name)])
        let asked = try await browser.submit(second, to: "/signin/ask", [("way", "email")])
        let path = try #require(asked.location, "\(asked.reply)")
        let page = try await browser.get(path)
        for _ in 0..<6 { _ = try await browser.submit(page, to: "\(path)/enter", [("code", "000000")]) }
        for number in 1...5 {
            let again = try await browser.submit(second, to: "/signin/ask", [("way", "email")])
            #expect(again.status == (number < 5 ? 303 : 429), "\(again.reply)")
        }
        let start = try await browser.get(scene.request(["prompt": "login"]))
        let stranger = try SoftPasskey(at: "\(scene.server.issuer)").signIn(try #require(start.ceremony("get")))
        let refused = try await browser.submit(start, to: "/signin/passkey", [("credential", stranger.text)])
        #expect(refused.status == 200 && refused.problem != nil, "\(refused.reply)")
        return try #require(refused.reply.headers["x-request-id"])
    }
}
