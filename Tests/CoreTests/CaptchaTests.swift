import CountersignStorage
import CountersignWire
import Encodings
import RelyingPartyAPI
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

// Spec: docs/decisions/0082-proof-of-work.md.
@Suite("A captcha's token, brought to the API, before a code is sent by text message", .timeLimit(.minutes(5)))
struct CaptchaTests {
    /// A shop whose codes need a captcha, also those that `careful` falls back to; `plain` needs none.
    private struct Scene: Sendable {
        let texts: TextScene
        /// The second node; it lives as long as the scene.
        let otherWorld: World
        /// What is said where a token of this captcha is missing.
        let missing: AskChallenge.Refusal
        let missingOther: AskChallenge.Refusal

        var world: World { texts.world }
        var shop: Client { texts.shop }
        /// The tokens that the first node has asked about.
        var asked: [String] { world.captchas.asked }

        init(_ engine: Engine = .chosen) async throws {
            texts = try await TextScene(engine)
            otherWorld = try await texts.world.reopened()
            try await otherWorld.store.refreshKeys()
            missing = .captchaMissing(try #require(CaptchaName("turnstile")))
            missingOther = .captchaMissing(try #require(CaptchaName("other")))
            let careful: JSONValue = ["methods": ["pin"], "fallback": "sms", "max_pending": 1000, "max_asks": 1000]
            let type = try ChallengeType(careful, name: try #require(TypeName("careful")))
            #expect(try await SetType.set(type, by: shop.actor, ports: world.ports) == .set)
            try await set("sms", captcha: "turnstile")
            try await set("plain", captcha: nil)
        }

        func challengeType(_ name: String, captcha: String?) throws -> ChallengeType {
            let settings = JSONValue.members([
                "text_code": true, "max_asks": 1000, "max_pending": 1000, "clients": [.string("\(shop.id)")],
                "captcha": captcha.map(JSONValue.string),
            ])
            return try ChallengeType(settings, name: try #require(TypeName(name)))
        }

        func set(_ name: String, captcha: String?) async throws {
            let outcome = try await SetType.set(
                try challengeType(name, captcha: captcha), by: shop.actor, ports: world.ports)
            #expect(outcome == .set)
        }

        /// A request to a number of its own, since each number has few codes an hour.
        func request(_ token: String?, by type: String = "sms", to number: Int = 0) throws -> AskChallenge.Request {
            var request = try texts.request(type, phone: "+1555123\(1000 + number)")
            request.captchaToken = try token.map { try #require(CaptchaToken($0)) }
            return request
        }

        /// Why nobody is asked; nil where somebody is.
        func refusal(
            _ token: String?, by type: String = "sms", to number: Int = 0, _ ports: Ports? = nil
        ) async throws -> AskChallenge.Refusal? {
            switch try await texts.asking(try request(token, by: type, to: number), ports) {
            case .asked: return nil
            case .refused(let refusal): return refusal
            }
        }

        /// What comes of a request under a key, in a word.
        func told(_ token: String, under key: IdempotencyKey, to number: Int = 0) async throws -> String {
            let result = try await AskChallenge.ask(
                try request(token, to: number), by: shop.credential, idempotency: key, ports: world.ports)
            switch result {
            case .done(.asked): return "asked"
            case .done(.refused(.captchaRefused)): return "refused"
            case .replayed(.asked): return "replayed"
            case .conflict: return "conflict"
            default: throw World.Broken("\(result)")
            }
        }

        func key(_ digest: UInt8) throws -> IdempotencyKey {
            let digest = MessageDigest(stored: [UInt8](repeating: digest, count: 32))
            return try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: digest))
        }

        /// Everything that was written for requests: challenges, messages, spent tokens, counts.
        func rows() async throws -> [Int64] {
            [
                try await world.count("challenges"), try await world.count("outbox"), try await world.count("nonces"),
                try await world.count("attempts", where: "key LIKE 'text code%'"),
            ]
        }
    }

    @Test("Without a token nothing is written; with one a code goes out, and none keeps it", arguments: Engine.allCases)
    func whole(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        #expect(try await scene.refusal(nil) == scene.missing)
        #expect(try await scene.rows() == [0, 0, 0, 0] && scene.asked.isEmpty)
        #expect(try await scene.world.count("attempts") == 0)
        let token = "marker-of-a-captcha-token"
        let logs = LogBook()
        #expect(try await scene.refusal(token, scene.world.ports(loggingTo: logs.logger)) == nil)
        #expect(scene.asked == [token])
        #expect(try await scene.rows() == [1, 1, 1, 2])
        #expect(try await scene.texts.sent().count == 1)
        let rows = try await scene.world.sql("SELECT key_id, nonce FROM nonces")
        let spent = try rows.map { [try $0.text(0), try $0.text(1)] }
        #expect(spent.map(\.first) == ["captcha"] && spent.first?.last?.utf8.count == 64)
        let audit = try await scene.world.audit().map { JSONValue.object($0.detail).text }
        #expect(!audit.isEmpty && !(audit + logs.entries).contains { $0.contains(token) })
    }

    @Test("A token is good once, whatever its provider says: for no other number, type, time, and on no other node")
    func once() async throws {
        let scene = try await Scene()
        let nodes = [scene.world.ports, scene.otherWorld.ports]
        try await scene.set("second", captcha: "other")
        let told = try await atOnce(8) { number in
            try await scene.refusal("same", by: number < 4 ? "sms" : "second", to: number, nodes[number % 2])
        }
        #expect(told.count { $0 == nil } == 1 && told.count { $0 == .captchaRefused } == 7, "\(told)")
        #expect(try await scene.texts.sent().count == 1)
        scene.world.time.advance(seconds: 7200)
        for (number, type) in ["sms", "second", "careful"].enumerated() {
            let refusal = try await scene.refusal("same", by: type, to: 8 + number, nodes[number % 2])
            #expect(refusal == .captchaRefused)
        }
        #expect(try await scene.texts.sent().isEmpty)
        #expect(try await scene.refusal("another", to: 20, nodes[1]) == nil)
    }

    @Test("Refused, or not judged, nothing is sent or counted; an outage is told in the log, and spends nothing")
    func refused() async throws {
        let scene = try await Scene()
        scene.world.captchas.say(.refused, of: "bad")
        scene.world.captchas.say(.unavailable("nobody is there"), of: "good")
        let logs = LogBook()
        let ports = scene.world.ports(loggingTo: logs.logger)
        #expect(try await scene.refusal("bad", ports) == .captchaRefused)
        #expect(logs.entries.filter { $0.contains("captcha") }.isEmpty)
        #expect(try await scene.refusal("good", ports) == .captchaUnavailable)
        let line = "warning a captcha cannot be verified captcha=turnstile error=nobody is there"
        #expect(logs.entries.filter { $0.contains("captcha") } == [line])
        #expect(try await scene.rows() == [0, 0, 0, 0])
        scene.world.captchas.say(.solved, of: "good")
        #expect(try await scene.refusal("good", ports) == nil)
    }

    @Test("It is needed where a type falls back to such a code, and is not looked at where a device answers")
    func fallback() async throws {
        let scene = try await Scene()
        #expect(try await scene.refusal(nil, by: "careful") == scene.missing)
        #expect(try await scene.refusal("first", by: "careful") == nil)
        #expect(scene.asked == ["first"])
        // What needs none takes one, and does not look at it.
        #expect(try await scene.refusal("second", by: "plain", to: 1) == nil)
        #expect(try await scene.refusal(nil, by: "plain", to: 2) == nil)
        let device = try await scene.world.makeDevice(of: scene.texts.user, by: scene.shop)
        _ = try await device.setPIN()
        #expect(try await scene.refusal("third", by: "careful", to: 3) == nil)
        #expect(try await scene.refusal(nil, by: "careful", to: 4) == nil)
        #expect(scene.asked == ["first"])
        try await scene.world.makeType()
        var request = try scene.world.request(for: scene.texts.user)
        request.captchaToken = CaptchaToken("x")
        #expect(try await scene.texts.asking(request) == .refused(.notAllowedByType(.captchaToken)))
    }

    @Test("A code that was sent is not sent again, so that one token brings one message")
    func resend() async throws {
        let scene = try await Scene()
        let asked = try await scene.texts.asking(try scene.request("token")).get()
        let resent = try await ResendChallenge.resend(
            asked.challenge.id, by: scene.shop.caller, ports: scene.world.ports)
        guard case .tooMany = resent else { throw World.Broken("resent") }
        #expect(try await scene.texts.sent().count == 1 && scene.asked == ["token"])
    }

    @Test("A client has providers asked 600 times a minute, on all nodes and by all types; others have their own")
    func limit() async throws {
        let scene = try await Scene()
        let client = scene.shop.id
        try await scene.set("second", captcha: "other")
        try await scene.world.ports.commit(at: scene.world.time.now, as: scene.shop.actor) { work in
            for _ in 0..<599 { _ = try work.count(.captchas(client)) }
        }
        scene.world.captchas.say(.refused, of: "bad")
        #expect(try await scene.refusal("bad") == .captchaRefused)
        let over = AskChallenge.Refusal.tooManyCaptchas(retryAfter: 60)
        #expect(try await scene.refusal("good") == over)
        #expect(try await scene.refusal("good", by: "second") == over)
        #expect(try await scene.refusal("good", scene.otherWorld.ports) == over)
        #expect(scene.asked == ["bad"] && scene.otherWorld.captchas.asked.isEmpty)
        // Without a token, and where none is needed, nothing is asked or counted.
        #expect(try await scene.refusal(nil) == scene.missing)
        #expect(try await scene.refusal(nil, by: "plain") == nil)
        let other = try await TextScene(in: scene.world)
        let others = try ChallengeType(
            ["text_code": true, "clients": [.string("\(other.shop.id)")], "captcha": "turnstile"],
            name: try #require(TypeName("theirs")))
        #expect(try await SetType.set(others, by: other.shop.actor, ports: scene.world.ports) == .set)
        var request = try other.request("theirs", phone: "+15551230001")
        request.captchaToken = CaptchaToken("theirs")
        guard case .asked = try await other.asking(request) else { throw World.Broken("another client") }
        scene.world.time.advance(seconds: 61)
        try await scene.set("sms", captcha: "turnstile")
        #expect(try await scene.refusal("good", to: 2) == nil)
    }

    @Test("A request repeated under its key is not verified again; another token under the key of a refusal is")
    func repeated() async throws {
        let scene = try await Scene()
        scene.world.captchas.say(.refused, of: "bad")
        #expect(try await scene.told("bad", under: try scene.key(1)) == "refused")
        #expect(try await scene.told("good", under: try scene.key(2)) == "asked")
        for _ in 0..<2 { #expect(try await scene.told("good", under: try scene.key(2)) == "replayed") }
        #expect(scene.asked == ["bad", "good"])
        #expect(try await scene.texts.sent().count == 1)
    }

    @Test("The same request many times at once sends one code, and each that is not refused is told of the same")
    func repeatedAtOnce() async throws {
        let scene = try await Scene()
        let key = try scene.key(1)
        let told = try await atOnce(6) { _ in try await scene.told("token", under: key) }
        #expect(told.count { $0 == "asked" } == 1 && told.count { $0 == "replayed" } == 5, "\(told)")
        #expect(try await scene.texts.sent().count == 1)
    }

    @Test("Of two requests under one key at once, one sends a code, and the other is a conflict and spends no token")
    func conflict() async throws {
        let scene = try await Scene()
        let key = try scene.key(2)
        scene.world.captchas.meanwhile {
            let told = try await scene.told("second", under: key)
            #expect(told == "asked")
        }
        #expect(try await scene.told("first", under: try scene.key(1)) == "conflict")
        // The provider was asked about both before either request was carried out.
        #expect(scene.asked == ["first", "second"])
        #expect(try await scene.world.count("nonces") == 1)
        #expect(try await scene.told("third", under: try scene.key(3)) == "conflict")
        #expect(scene.asked == ["first", "second"])
        #expect(try await scene.texts.sent().count == 1)
        #expect(try await scene.refusal("first", to: 1) == nil)
    }

    @Test("Many requests under one key at once, each with a token of its own, send one code and spend one token")
    func conflictsAtOnce() async throws {
        let scene = try await Scene()
        let told = try await atOnce(6) { number in
            try await scene.told("token-\(number)", under: try scene.key(UInt8(number)))
        }
        #expect(told.count { $0 == "asked" } == 1 && told.count { $0 == "conflict" } == 5, "\(told)")
        #expect(try await scene.texts.sent().count == 1)
        #expect(try await scene.world.count("nonces") == 1)
    }

    @Test("A type that has got another captcha meanwhile needs that one's token, and one without any sends")
    func meanwhile() async throws {
        let scene = try await Scene()
        scene.world.captchas.meanwhile { try await scene.set("sms", captcha: "other") }
        #expect(try await scene.refusal("first") == scene.missingOther)
        scene.world.captchas.meanwhile { try await scene.set("sms", captcha: nil) }
        #expect(try await scene.refusal("second") == nil)
        #expect(scene.asked == ["first", "second"])
        #expect(try await scene.world.count("nonces") == 0)
    }

    @Test("A type names a captcha that there is, and sends codes; one that has gone since lets nothing through")
    func types() async throws {
        let scene = try await Scene()
        let gone = try scene.challengeType("sms", captcha: "gone")
        #expect(try ChallengeType(gone.json, name: gone.name).json == gone.json)
        let outcome = try await SetType.set(gone, by: scene.shop.actor, ports: scene.world.ports)
        guard case .refused(let violation) = outcome else { throw World.Broken("a type with an unknown captcha") }
        #expect(violation.member == "captcha")
        try await scene.world.store.commit { try $0.types.put(gone) }
        #expect(try await scene.refusal("token") == .captchaUnavailable)
        #expect(try await scene.rows() == [0, 0, 0, 0])
        let name = try #require(TypeName("payment"))
        for settings in [["captcha": "turnstile"], ["qr": true, "captcha": "turnstile"]] as [JSONValue] {
            #expect(
                throws: JSONShapeError.invalid(
                    pointer: "/captcha", expected: "absent, since no code is sent by text message")
            ) { _ = try ChallengeType(settings, name: name) }
        }
    }

    @Test(
        "A token has 1 to 4096 visible ASCII characters",
        arguments: [
            ("x", true), (String(repeating: "~", count: 4096), true), ("", false),
            (String(repeating: "x", count: 4097), false), ("a b", false), ("a\n", false), ("ä", false),
            ("\u{0}", false),
        ])
    func form(_ text: String, _ isValid: Bool) {
        #expect((CaptchaToken(text) != nil) == isValid)
    }
}
