import CountersignServer
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("Mails and texts go into a folder and to /dev/outbox", .timeLimit(.minutes(15)))
struct MessageTests {
    private static let path = "/v1/admin/messages"

    /// What a server in development mode shows, as soon as there is so much.
    private func taken(_ count: Int, by server: TestServer) async throws -> [JSONValue] {
        while true {
            let shown = try await server.send(.GET, "/dev/outbox").success()["messages"]?.array ?? []
            if shown.count >= count { return shown }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test("A mail and a text message are shown, newest first, and lie in the folder, for its owner alone")
    func taken() async throws {
        try await TestServer.with { server in
            let administrator = server.administrator
            #expect(try await taken(0, by: server).isEmpty)
            let mail = try await administrator.call(
                .POST, Self.path, ["email": "me@example.com", "template": "code", "language": "de-AT"])
            #expect(mail.status == 202)
            let id = try #require(mail.success()["message"]?.string)
            let first = try #require(try await taken(1, by: server).first)
            #expect(first["id"]?.string == id && first["to"] == "me@example.com")
            #expect(first["subject"] == "Ihr Code für 127.0.0.1")
            #expect(first["text"]?.string?.hasPrefix("123456\n") == true)
            // It has arrived, and is not in the outbox any more.
            while try await administrator.call(.GET, "/v1/admin/outbox/\(id)").status == 200 {
                try await Task.sleep(for: .milliseconds(10))
            }
            expectRefusal(
                try await administrator.call(.GET, "/v1/admin/outbox/\(id)"), 404, "message_not_found")

            let text = try await administrator.call(.POST, Self.path, ["phone": "+15551234567", "template": "code"])
            let other = try #require(text.success()["message"]?.string)
            let both = try await taken(2, by: server)
            #expect(both.map { $0["id"]?.string } == [other, id])
            #expect(both[0]["subject"] == nil && both[0]["to"] == "+15551234567")
            #expect(both[0]["text"]?.string?.hasSuffix("\n\n@127.0.0.1 #123456") == true)

            let folder = "\(server.dataFolder)/outbox"
            #expect(try mode(folder) == 0o700)
            for name in ["\(id).eml", "\(other).txt"] { #expect(try mode("\(folder)/\(name)") == 0o600) }
            let file = try String(contentsOfFile: "\(folder)/\(id).eml", encoding: .utf8)
            #expect(file.contains("To: <me@example.com>\r\n"))
        }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test(
        "Content Security Policy, The header field: the page for a browser loads nothing, is framed by nobody and shows texts as they are"
    )
    func page() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"), settings: { $0.messages.sender = "<b>ACME</b> & Co" }
        ) { server in
            _ = try await server.administrator.call(.POST, Self.path, ["email": "me@example.com"]).success()
            _ = try await taken(1, by: server)
            let page = try await server.send(.GET, "/dev/outbox", headers: [("Accept", "text/html,*/*;q=0.8")])
            #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(
                page.headers["content-security-policy"]
                    == "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(text.contains("<h2>A message from &lt;b&gt;ACME&lt;/b&gt; &amp; Co</h2>"))
            #expect(!text.contains("<b>"))
        }
    }

    @Test("A page's signs are escaped under combining marks too: for a browser they are signs")
    func combinedSigns() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"), settings: { $0.messages.sender = "<\u{338}b>\u{301}\"\u{FE0F}" }
        ) { server in
            _ = try await server.administrator.call(.POST, Self.path, ["email": "me@example.com"]).success()
            _ = try await taken(1, by: server)
            let page = try await server.send(.GET, "/dev/outbox", headers: [("Accept", "text/html")])
            let text = String(decoding: page.body, as: UTF8.self).unicodeScalars
            #expect(text.contains("\u{338}") && text.contains("\u{FE0F}"))
            for (sign, mark) in zip(text, text.dropFirst()) where ["\u{338}", "\u{301}", "\u{FE0F}"].contains(mark) {
                #expect(sign == ";", "\(sign)")
            }
        }
    }

    @Test("The development outbox is not there for another machine, for another name or behind a proxy")
    func strangers() async throws {
        try await TestServer.with { server in
            for (name, value) in [
                ("X-Forwarded-For", "192.0.2.1"), ("Via", "1.1 proxy"), ("Host", "attacker.example"),
                ("Host", "localhost.attacker.example"), ("Host", "127.0.0.1.attacker.example:8080"),
            ] {
                let reply = try await server.send(.GET, "/dev/outbox", headers: [(name, value)])
                expectRefusal(reply, 404, "not_found")
            }
            for name in ["localhost", "localhost:8080", "[::1]:8080"] {
                #expect(try await server.send(.GET, "/dev/outbox", headers: [("Host", name)]).status == 200)
            }
        }
    }

    @Test("A server with another issuer has no such mode: nothing is sent without a transport, and nothing is shown")
    func production() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"), settings: { $0.issuer = Issuer("https://login.example.com") }
        ) { server in
            for to: JSONValue in [["email": "me@example.com"], ["phone": "+15551234567"]] {
                expectRefusal(
                    try await server.administrator.call(.POST, Self.path, to), 409, "transport_not_set_up")
            }
            expectRefusal(try await server.send(.GET, "/dev/outbox"), 404, "not_found")
            #expect(!FileManager.default.fileExists(atPath: "\(server.dataFolder)/outbox"))
        }
    }

    @Test("What is wrong with a test message is said, it is for operators alone, and an address gets ten an hour")
    func refusals() async throws {
        try await Scene.with { scene in
            let administrator = scene.server.administrator
            let wrong: [(JSONValue, String, String)] = [
                ([:], "missing_member", "/email"), (["email": "me"], "invalid_member", "/email"),
                (["email": 7], "invalid_member", "/email"), (["phone": "0555"], "invalid_member", "/phone"),
                (["email": "me@example.com", "phone": "+15551234567"], "invalid_member", "/phone"),
                (["email": "me@example.com", "template": "other"], "invalid_member", "/template"),
                (["email": "me@example.com", "language": "german"], "invalid_member", "/language"),
                (["email": "me@example.com", "text": "Buy!"], "unknown_member", "/text"),
            ]
            for (body, code, pointer) in wrong {
                expectRefusal(try await administrator.call(.POST, Self.path, body), 422, code, at: pointer)
            }
            let right: JSONValue = ["email": "me@example.com"]
            expectRefusal(try await scene.shop.call(.POST, Self.path, right), 403, "right_missing")
            for _ in 1...10 { _ = try await administrator.call(.POST, Self.path, right).success() }
            let reply = try await administrator.call(.POST, Self.path, right)
            expectRefusal(reply, 429, "rate_limited")
            #expect(reply.json["retry_after"]?.integer.map { (3590...3600).contains($0) } == true)
            #expect(try await taken(10, by: scene.server).count == 10)
            expectRefusal(
                try await scene.shop.call(.GET, "/v1/admin/outbox/evt_1"), 403, "right_missing")
            expectRefusal(
                try await administrator.call(.GET, "/v1/admin/outbox/evt_1"), 404, "message_not_found")
        }
    }
}
