import CountersignDelivery
import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0082-proof-of-work.md.
@Suite("A captcha's token at POST /v1/challenges, and its provider", .timeLimit(.minutes(15)))
struct CaptchaRequestTests {
    private static let secret = "marker-of-a-provider's-secret"
    private static let solved: JSONValue = ["success": true]

    /// A server with two captchas: `own`, whose provider answers as is said, and `slow`, whose provider says nothing.
    private static func with(
        answering statuses: [Int] = [], saying bodies: [JSONValue] = [],
        _ body: @escaping @Sendable (Scene, CallbackReceiver) async throws -> Void
    ) async throws {
        let silent = try await SilentHost()
        try await CallbackReceiver.with(answering: statuses, saying: bodies) { receiver in
            let folder = try TemporaryFolder()
            let secrets = try folder.write("secrets", Array("own: \(secret)\nslow:another\n".utf8))
            let addresses = [
                try #require(CaptchaAddress("own=\(receiver.url)")),
                try #require(CaptchaAddress("slow=http://127.0.0.1:\(silent.port)/verify")),
            ]
            try await TestServer.with(
                dataFolder: folder.path("data"),
                settings: { $0.captchas = CaptchaFiles(addresses: addresses, secretsFile: secrets) }
            ) { server in
                server.watch.plant(secret, "the secret at a captcha's provider")
                let scene = try await Scene.make(server)
                for (name, captcha) in [("sms", "own"), ("silent", "slow")] {
                    let type = try await setType(name, captcha: captcha, in: scene).success()
                    #expect(type["captcha"] == .string(captcha))
                }
                try await body(scene, receiver)
            }
        }
        try await silent.close()
    }

    private static func setType(_ name: String, captcha: String, in scene: Scene) async throws -> Reply {
        try await scene.administrator.call(
            .PUT, "/v1/admin/types/\(name)",
            [
                "text_code": true, "captcha": .string(captcha), "clients": [.string(scene.shop.clientID)],
                "max_pending": 100, "max_asks": 100,
            ])
    }

    private static func ask(
        _ token: String?, by type: String = "sms", in scene: Scene, under key: String? = nil
    ) async throws -> Reply {
        if let token { scene.server.watch.plant(token, "a captcha's token") }
        let body = JSONValue.members([
            "user": .string(scene.user), "type": .string(type), "message": "Sign in to ACME?",
            "phone": "+15551234567", "captcha_token": token.map(JSONValue.string),
        ])
        let headers = key.map { [("Idempotency-Key", $0)] } ?? []
        return try await scene.shop.call(.POST, "/v1/challenges", body, headers: headers)
    }

    @Test("The provider is asked by secret and token, and the code goes out; a repeat under the key asks nobody")
    func whole() async throws {
        try await Self.with(saying: [Self.solved]) { scene, receiver in
            let token = "marker-of-a-captcha's-token"
            let missing = try await Self.ask(nil, in: scene, under: "one")
            expectRefusal(missing, 422, "captcha_missing", at: "/captcha_token")
            #expect(missing.json["captcha"] == "own")
            let asked = try await Self.ask(token, in: scene, under: "one").success()
            #expect(asked["type"] == "sms" && asked["methods"] == ["text_code"])
            var calls = receiver.calls.makeAsyncIterator()
            let call = try #require(await calls.next())
            let form = try #require(FormText.fields(in: String(decoding: call.body, as: UTF8.self)))
            #expect(form.map(\.name) == ["secret", "response"] && form.map(\.value) == [Self.secret, token])
            // Asked once more, the provider would say nothing that can be used.
            let again = try await Self.ask(token, in: scene, under: "one")
            #expect(try again.success() == asked && again.headers["idempotency-replayed"] == "true")
            let path = "/v1/challenges/\(try #require(asked["id"]?.string))/resend"
            expectRefusal(try await scene.shop.call(.POST, path), 429, "too_many_resends")
            let audit = try await scene.administrator.call(.GET, "/v1/admin/events").success()
            #expect(!audit.text.contains(token) && !audit.text.contains(Self.secret))
        }
    }

    @Test("What the provider refuses, or has taken before, is refused; what it does not say clearly is its outage")
    func refused() async throws {
        let statuses = [200, 200, 200, 200, 302, 500, 200, 200]
        let bodies: [JSONValue] = [
            ["success": false], Self.solved, Self.solved, ["success": "true"], Self.solved, Self.solved, [:],
            Self.solved,
        ]
        try await Self.with(answering: statuses, saying: bodies) { scene, _ in
            expectRefusal(try await Self.ask("bad-token-1234", in: scene), 422, "captcha_refused", at: "/captcha_token")
            _ = try await Self.ask("good-token-1234", in: scene).success()
            let twice = try await Self.ask("good-token-1234", in: scene)
            expectRefusal(twice, 422, "captcha_refused", at: "/captcha_token")
            for _ in 0..<4 {
                expectRefusal(try await Self.ask("next-token-1234", in: scene), 503, "captcha_unavailable")
            }
            _ = try await Self.ask("next-token-1234", in: scene).success()
            for token in ["", String(repeating: "x", count: 4097), "a b"] {
                expectRefusal(try await Self.ask(token, in: scene), 422, "invalid_member", at: "/captcha_token")
            }
        }
    }

    @Test("A provider that says nothing is waited for five seconds")
    func slow() async throws {
        try await Self.with { scene, _ in
            let start = ContinuousClock.now
            expectRefusal(
                try await Self.ask("slow-token-1234", by: "silent", in: scene), 503, "captcha_unavailable")
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            #expect(seconds >= 5 && seconds < 14, "\(seconds)")
        }
    }

    @Test("A type that falls back to such a code needs the token; one that asks devices alone takes none")
    func otherType() async throws {
        try await Self.with(saying: [Self.solved]) { scene, _ in
            _ = try await scene.administrator.call(
                .PUT, "/v1/admin/types/careful", ["methods": ["pin"], "fallback": "sms"]
            ).success()
            expectRefusal(
                try await Self.ask(nil, by: "careful", in: scene), 422, "captcha_missing", at: "/captcha_token")
            let asked = try await Self.ask("careful-token-1", by: "careful", in: scene).success()
            #expect(asked["type"] == "sms")
            let body: JSONValue = [
                "user": .string(scene.user), "type": "payment", "message": "Pay?", "captcha_token": "payment-token-1",
            ]
            expectRefusal(
                try await scene.shop.call(.POST, "/v1/challenges", body), 422, "not_allowed_by_type",
                at: "/captcha_token")
        }
    }

    @Test("A type cannot name a captcha that the settings do not have, nor one where no code is sent")
    func types() async throws {
        try await Self.with { scene, _ in
            expectRefusal(
                try await Self.setType("sms", captcha: "unknown", in: scene), 422, "invalid_member", at: "/captcha")
            expectRefusal(
                try await Self.setType("sms", captcha: "Own", in: scene), 422, "invalid_member", at: "/captcha")
            expectRefusal(
                try await scene.administrator.call(.PUT, "/v1/admin/types/payment", ["captcha": "own"]), 422,
                "invalid_member", at: "/captcha")
        }
        let folder = try TemporaryFolder()
        let types: JSONValue = [
            "types": [["name": "sms", "text_code": true, "captcha": "own", "clients": [.string(Self.client)]]]
        ]
        let file = try folder.write("types.json", types.encoded)
        let own = try #require(CaptchaName("own"))
        #expect(try TypeFile.types(in: file, with: [own]).map(\.captcha) == [own])
        let refusal = StartError("\(file) cannot be used: /types/0/captcha must be \(Self.expected).")
        #expect(throws: refusal) { _ = try TypeFile.types(in: file, with: []) }
    }

    private static let client = "cli_01m7yfa1b2c3d4e5f6g7h8j9k0"
    private static let expected = "the name of one of the server's captchas"

    @Test("A server starts with one secret for each provider alone, and no message tells a secret")
    func secrets() throws {
        let folder = try TemporaryFolder()
        let addresses = try ["own=https://a.example.com", "other=https://b.example.com/x?y=z"].map {
            try #require(CaptchaAddress($0))
        }
        #expect(addresses.map(\.url) == ["https://a.example.com", "https://b.example.com/x?y=z"])
        func providers(_ text: String, _ addresses: [CaptchaAddress]) throws -> [String: String] {
            let file = try folder.write("secrets", Array(text.utf8))
            let providers = try CaptchaFiles(addresses: addresses, secretsFile: file).providers()
            return Dictionary(uniqueKeysWithValues: providers.map { ("\($0.key)", $0.value.secret.reveal()) })
        }
        #expect(try providers("own: a:b\nother:c\n", addresses) == ["own": "a:b", "other": "c"])
        let path = folder.path("secrets")
        let lines = StartError(
            "\(path) must hold a line NAME: SECRET for each name of captcha.providers, and no other.")
        for text in ["own", "own:", "own: a\nown: b", "own: a\nothers: b", "own: a\nother: b\nthird: c"] {
            #expect(throws: lines) { _ = try providers(text, addresses) }
        }
        #expect(throws: StartError("\(path) has no line for other of captcha.providers.")) {
            _ = try providers("own: a", addresses)
        }
        #expect(throws: StartError("captcha.providers names own twice.")) {
            _ = try providers("own: a", [addresses[0], addresses[0]])
        }
        #expect(throws: StartError("\(path) is empty. It must hold a secret.")) { _ = try providers("", addresses) }
        for wrong in ["own", "own=", "=https://a.example.com", "Own=https://a.example.com", "own=http://a.test"] {
            #expect(CaptchaAddress(wrong) == nil, "\(wrong)")
        }
    }
}
