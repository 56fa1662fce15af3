import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 8628 §3.1, §5.2, §5.4.
@Suite("What a device sends, gets, and has somebody asked, over HTTP")
struct DeviceRequestTests {
    private static let path = "/oauth2/device_authorization"
    private static let form = "application/x-www-form-urlencoded"
    private static let registered: JSONObject = [
        "profile": "native", "asked_browsers": "all", "device_grant": true, "device_login_hint": true,
    ]

    // Spec: RFC 8628 §3.1.
    @Test("RFC 8628 §3.1: what is no form by POST in UTF-8 begins nothing")
    func forms() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            let fields = Array("client_id=\(scene.credential.id)".utf8)
            let json: JSONValue = ["client_id": .string(scene.credential.id)]
            func send(_ type: String?, _ body: [UInt8]) async throws -> Reply {
                try await scene.server.send(
                    .POST, Self.path, headers: type.map { [("Content-Type", $0)] } ?? [], body: body,
                    isContract: false)
            }
            #expect(try await send(Self.form, fields).status == 200)
            let others: [(type: String?, body: [UInt8])] = [
                ("application/json", json.encoded), ("application/json", fields), ("text/plain", fields),
                ("multipart/form-data; boundary=x", fields), (nil, fields),
                (Self.form, fields + Array("&login_hint=".utf8) + [0xFF]),
                (Self.form, fields + Array("&login_hint=%FF".utf8)), (Self.form, fields + Array("&x=%".utf8)),
            ]
            for (type, body) in others {
                let reply = try await send(type, body)
                expectOAuthError(reply, "invalid_request")
                #expect(reply.json["device_code"] == nil, "\(reply)")
            }
            for method in [HTTPMethod.GET, .PUT] {
                let reply = try await scene.server.send(method, Self.path, isContract: false)
                expectOAuthError(reply, "invalid_request", 405)
            }
        }
    }

    // Spec: RFC 8628 §5.2.
    @Test("RFC 8628 §5.2: a device code has 256 bits that nobody guesses, and is good for its own request alone")
    func deviceCode() async throws {
        try await SignInPageScene.with(Self.registered) { scene in
            var codes: [(id: String, secret: String)] = []
            for _ in 0..<3 {
                let begun = try await scene.token([("client_id", scene.credential.id)], at: Self.path)
                let parts = try #require(begun.json["device_code"]?.string, "\(begun)").split(separator: ".")
                #expect(parts.count == 2)
                let secret = String(parts[1])
                #expect(Base64URL.decode(secret)?.count == 32)
                codes.append((String(parts[0]), secret))
            }
            #expect(Set(codes.map { $0.id }).count == 3 && Set(codes.map { $0.secret }).count == 3)
            func poll(_ id: String, _ secret: String) async throws -> Reply {
                try await scene.token([
                    ("grant_type", OAuthDoor.deviceGrantType), ("client_id", scene.credential.id),
                    ("device_code", "\(id).\(secret)"),
                ])
            }
            let (id, secret) = codes[0]
            let changed = "\(secret.hasPrefix("A") ? "B" : "A")\(secret.dropFirst())"
            let zeros = Base64URL.encode([UInt8](repeating: 0, count: 32))
            for other in [codes[1].secret, changed, zeros, String(secret.dropLast()), "\(secret)A", ""] {
                expectOAuthError(try await poll(id, other), "invalid_grant")
            }
            expectOAuthError(try await poll(id, secret), "authorization_pending")
        }
    }

    // Spec: RFC 8628 §5.4.
    @Test("RFC 8628 §5.4: the page names the client, the code, when the device asked, and from where both sides come")
    func question() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"),
            settings: { $0.proxies = TrustedProxies(networks: ["127.0.0.1"].compactMap { Network($0) }) }
        ) { server in
            let made = try await Scene.make(server)
            let scene = SignInPageScene(
                scene: made, browser: TestBrowser(server), credential: made.shop.credential)
            try await scene.set(Self.registered)
            let claim: JSONValue = ["email": "customer-1@example.com"]
            #expect(try await made.shop.call(.PATCH, "/v1/users/\(made.user)", claim).status == 200)
            _ = try await scene.signIn()
            let body = Array("client_id=\(scene.credential.id)".utf8)
            let (second, begun) = try await server.clock.stopped { second in
                (
                    second,
                    try await server.send(
                        .POST, Self.path,
                        headers: [("Content-Type", Self.form), ("X-Forwarded-For", "198.51.100.7")], body: body,
                        isContract: false)
                )
            }
            let code = try #require(begun.json["user_code"]?.string, "\(begun)")
            server.clock.advance(seconds: 300)
            let here = [("X-Forwarded-For", "203.0.113.9")]
            let empty = try await scene.browser.get("/device", headers: here)
            let page = try await scene.browser.post(
                "/device", [("request", try #require(empty.request)), ("user_code", code)], headers: here)
            #expect(page.heading == "Did you start this, on a device in front of you?", "\(page.reply)")
            #expect(page.html.contains("ACME Shop"), "\(page.reply)")
            let text = DateFormatter()
            text.locale = Locale(identifier: "en_US_POSIX")
            text.timeZone = TimeZone(identifier: "GMT")
            text.dateFormat = "HH:mm 'UTC', d MMMM yyyy"
            let asked = text.string(from: Date(timeIntervalSince1970: Double(second)))
            for (name, value, other) in [
                ("It shows", code, ""), ("It is at", "198.51.100.7", "203.0.113.9"), ("At", asked, ""),
                ("You are at", "203.0.113.9", "198.51.100.7"),
            ] {
                let rest = page.html.components(separatedBy: "<dt>\(name)</dt>").dropFirst().first
                let fact = try #require(rest, "\(page.reply)").components(separatedBy: "</div>")[0]
                #expect(fact.contains(value) && (other.isEmpty || !fact.contains(other)), "\(name): \(fact)")
            }
            let yes = try await scene.browser.post(
                "/device/confirm", [("request", try #require(page.request)), ("decision", "yes")], headers: here)
            #expect(yes.status == 303, "\(yes.reply)")
            let line = try await made.phone.open(try await scene.pending()).question.context?.text
            #expect(line?.contains("198.51.100.7") == true && line?.contains("203.0.113.9") == false, "\(line ?? "")")
        }
    }
}
