import CountersignWire
import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// They are cut out of Cotter's document by `scripts/seed-snippets`.
@Suite("The samples of Cotter's document that anybody can run, as they stand there")
struct CotterSampleTests {
    private static func sample(_ name: String) throws -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(
            contentsOf: tests.appending(path: "VendorTests/Snippets/002/\(name).txt"), encoding: .utf8)
    }

    /// Runs a program by the first of its names that there is, and returns what it prints.
    private static func run(_ names: String..., with arguments: [String]) throws -> String {
        let path = names.compactMap { Program.path(of: $0) }.first
        let result = try Program.run(try #require(path, "none of \(names)"), arguments)
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    /// Proves an address with a challenge, and gets the identity by the document's `curl`.
    private static func identity(
        _ verifier: String, _ challenge: String, _ address: String, _ scene: CotterScene
    ) async throws -> JSONValue {
        let result = try await scene.prove(
            address, ["code_challenge": challenge], in: TestBrowser(scene.server)
        ).result
        var call = try sample("curl-1")
        for (word, value) in [
            ("<api_key_id>", scene.key), ("<code_verifier>", verifier), ("<authorization_code>", result["code"]),
            ("<challenge_id>", result["challenge_id"]), ("<redirect_url>", CotterScene.redirectURI),
            ("https://www.cotter.app", "\(scene.server.issuer)"),
        ] as [(String, String?)] {
            #expect(call.contains(word), "\(call)")
            call = call.replacing(word, with: try #require(value))
        }
        let printed = try run("bash", with: ["-c", call])
        return try JSONValue(parsing: Array(printed.utf8))
    }

    @Test("Verifier and challenge in Python, and curl")
    func identity() async throws {
        try await CotterScene.with { scene in
            let program =
                try Self.sample("python-1") + Self.sample("python-2")
                + "print(code_verifier.decode(), code_challenge.decode())\n"
            let words = try Self.run("python3", with: ["-c", program])
                .split(whereSeparator: \.isWhitespace).map(String.init)
            try #require(words.count == 2)
            let reply = try await Self.identity(words[0], words[1], "putri@example.com", scene)
            #expect(reply["identifier"]?["identifier"] == "putri@example.com", "\(reply)")
            #expect(reply["oauth_token"]?["token_type"] == "Bearer")
        }
    }

    @Test("Verifier and challenge in JavaScript, in a browser")
    func javaScript() async throws {
        try await CotterScene.with { scene in
            let folder = try TemporaryFolder()
            let page = folder.url.appending(path: "page.html")
            let script = try Self.sample("javascript-1") + Self.sample("javascript-2")
            let html = """
                <!DOCTYPE html><html><body></body><script>(async () => {
                \(script)
                document.body.textContent = "found " + verifier + " " + challenge + " there"
                })()</script></html>
                """
            try Data(html.utf8).write(to: page)
            let printed = try Self.run(
                "chromium", "chromium-browser", "google-chrome",
                with: [
                    "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.path("profile"))",
                    "--virtual-time-budget=5000", "--dump-dom", page.absoluteString,
                ])
            let found = try #require(printed.firstMatch(of: #/found (\S+) (\S+) there/#), "\(printed)")
            let (verifier, challenge) = (String(found.output.1), String(found.output.2))
            // 28 bytes in hexadecimal.
            #expect(verifier.utf8.count == 56)
            let reply = try await Self.identity(verifier, challenge, "putri@example.com", scene)
            #expect(reply["identifier"]?["identifier"] == "putri@example.com", "\(reply)")
        }
    }
}
