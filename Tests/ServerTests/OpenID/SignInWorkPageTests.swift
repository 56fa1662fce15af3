import CountersignCore
import CountersignServer
import Crypto
import Encodings
import ServerTestSupport
import TestSupport
import Testing

@Suite("The page that gives a browser work before it reaches somebody")
struct SignInWorkPageTests {
    private static func with(_ body: @escaping @Sendable (SignInPageScene) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"), settings: { $0.limits.work = .always }
        ) { server in
            let scene = try await Scene.make(server)
            let made = SignInPageScene(
                scene: scene, browser: TestBrowser(server), credential: scene.shop.credential)
            try await made.set(["asked_browsers": "all", "ways": ["device", "qr", "email"]])
            try await body(made)
        }
    }

    /// The page for a choice.
    private func chosen(
        _ scene: SignInPageScene, _ way: String, _ name: String = "customer-1", _ browser: TestBrowser? = nil
    ) async throws -> Page {
        let browser = browser ?? scene.browser
        let first = try await browser.get(scene.request())
        let second = try await browser.submit(first, to: "/signin/choose", [("identifier", "\(name)@example.com")])
        return try await browser.submit(second, to: "/signin/ask", [("way", way)])
    }

    private func solution(of page: Page) throws -> String {
        let seed = try #require(page.html.firstMatch(of: /data-seed="([0-9a-f]{64})"/)?.output.1)
        #expect(page.html.contains("data-bits=\"18\""))
        let bytes = try #require(Hex.decode(String(seed)))
        #expect(bytes == Array(SHA256.hash(data: Array(try #require(page.request).utf8))))
        var message = bytes + [0, 0, 0, 0]
        for nonce in UInt32(0)... {
            for place in 0..<4 { message[32 + place] = UInt8(truncatingIfNeeded: nonce >> UInt32(24 - 8 * place)) }
            let zeros = SHA256.hash(data: message).withUnsafeBytes {
                UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self)).leadingZeroBitCount
            }
            if zeros >= 18 { return "\(nonce)" }
        }
        throw SignInPageScene.NothingAsked()
    }

    @Test("A choice that reaches somebody leads to the puzzle, and its solution to what was chosen; a QR code does not")
    func solved() async throws {
        try await Self.with { scene in
            for way in ["email", "device"] {
                let page = try await chosen(scene, way)
                #expect(page.status == 200 && page.heading == "One moment", "\(page.reply)")
                #expect(page.reply.headers["content-security-policy"]?.contains("; worker-src 'self';") == true)
                let asked = try await scene.browser.submit(
                    page, to: "/signin/ask/\(way)", [("nonce", try solution(of: page))])
                #expect(asked.status == 303, "\(asked.reply)")
                let shown = try await scene.browser.get(try #require(asked.location))
                let heading = way == "email" ? "Enter the code from your email" : "Type this number on your phone"
                #expect(shown.heading == heading)
                #expect(shown.reply.headers["content-security-policy"]?.contains("; worker-src 'none';") == true)
                // Sent once more, the form leads to another puzzle.
                let again = try await scene.browser.submit(
                    page, to: "/signin/ask/\(way)", [("nonce", try solution(of: page))])
                #expect(again.heading == "One moment" && again.html.contains("data-seed="))
            }
            #expect(try await chosen(scene, "qr").status == 303)
        }
    }

    @Test("In another language the browser gets new work, for the same choice")
    func language() async throws {
        try await Self.with { scene in
            let page = try await chosen(scene, "email")
            let german = try await scene.browser.inGerman(page)
            #expect(german.html.contains("data-seed=") && german.request != page.request)
            let asked = try await scene.browser.submit(
                german, to: "/signin/ask/email", [("nonce", try solution(of: german))])
            #expect(asked.status == 303, "\(asked.reply)")
        }
    }

    @Test("Without a script one waits, and reads for how long; then no script tries again")
    func waits() async throws {
        try await Self.with { scene in
            let page = try await chosen(scene, "email")
            #expect(page.html.contains(/<p class="if-still">Wait [0-9]+ seconds, then continue\./))
            let wrong = try await scene.browser.submit(page, to: "/signin/ask/email", [("nonce", "0")])
            #expect(wrong.status == 200)
            #expect(
                wrong.html.contains(/This browser could not solve the puzzle\. Wait [0-9]+ seconds, then continue\./))
            #expect(!wrong.html.contains("data-seed="))
            scene.server.clock.advance(seconds: 12)
            let early = try await scene.browser.submit(wrong, to: "/signin/ask/email")
            #expect(early.html.contains(/That was too early\. Wait [0-9]+ seconds, then continue\./))
            #expect(!early.html.contains("data-seed="))
            // Another way and another name are open, and the wait does not go with them.
            let ways = try await scene.browser.submit(early, to: "/signin/choose")
            #expect(ways.heading == "How do you want to sign in?")
            scene.server.clock.advance(seconds: 18)
            let other = try await scene.browser.submit(ways, to: "/signin/ask/email")
            #expect(other.heading == "One moment" && other.html.contains("data-seed="))
            #expect(try await scene.browser.submit(early, to: "/signin/ask/device").heading == "One moment")
            #expect(try await scene.browser.submit(early, to: "/signin/ask/email").status == 303)
        }
    }

    @Test("The page is the same for somebody whom nobody knows")
    func unknown() async throws {
        try await Self.with { scene in
            var pages: [String] = []
            for name in ["customer-1", "customer-2"] {
                let page = try await chosen(scene, "email", name, TestBrowser(scene.server))
                let html = page.html.replacing(name, with: "somebody")
                    .replacing(/name="request" value="[^"]*"/, with: "").replacing(/data-seed="[^"]*"/, with: "")
                    // The clock goes on.
                    .replacing(/[0-9]+:[0-9]+(:[0-9]+)?|[0-9]+ seconds/, with: "TIME")
                pages.append(html)
            }
            #expect(pages[0] == pages[1] && pages[0].contains("One moment"))
        }
    }

    @Test("A worker of ours may fetch nothing")
    func worker() async throws {
        try await Self.with { scene in
            let page = try await chosen(scene, "email")
            let path = try #require(page.html.firstMatch(of: /data-solver="([^"]*)"/)?.output.1)
            let script = try await scene.browser.get(String(path))
            #expect(script.status == 200 && script.reply.headers["content-type"] == "text/javascript; charset=utf-8")
            #expect(script.reply.headers["content-security-policy"] == "default-src 'none'")
        }
    }
}
