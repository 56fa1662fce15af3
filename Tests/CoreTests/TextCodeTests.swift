import CountersignStorage
import CountersignWire
import Encodings
import RelyingPartyAPI
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A relying party that falls back to codes by text message, and a user without a device.
struct TextScene: Sendable {
    static let phone = "+15551234567"

    let world: World
    let shop: Client
    let user: UserID

    init(_ engine: Engine = .sqlite, in given: World? = nil, attempts: Int? = nil) async throws {
        world = if let given { given } else { try await World(engine) }
        shop = try await world.makeClient(waives: true).client
        user = try await world.makeUser("customer-1", of: shop)
        let settings = JSONValue.members([
            "text_code": true, "max_asks": 100, "max_pending": 100,
            "attempts": attempts.map { .integer(Int64($0)) }, "clients": [.string("\(shop.id)")],
        ])
        for (name, json) in [("sms", settings), ("careful", ["methods": ["pin"], "fallback": "sms"])] {
            let type = try ChallengeType(json, name: try #require(TypeName(name)))
            try await SetType.set(type, by: shop.actor, ports: world.ports)
        }
    }

    func request(_ type: String = "sms", phone: String? = phone) throws -> AskChallenge.Request {
        var request = try world.request(for: user, type: type)
        request.phone = phone.flatMap { PhoneNumber($0) }
        return request
    }

    func asking(
        _ request: AskChallenge.Request, _ ports: Ports? = nil
    ) async throws -> AskChallenge.Outcome {
        let result = try await AskChallenge.ask(
            request, by: shop.credential, idempotency: nil, ports: ports ?? world.ports)
        guard case .done(let outcome) = result else { throw World.Broken("ask") }
        return outcome
    }

    func ask(_ type: String = "sms") async throws -> Challenge {
        try await world.challenge(try await asking(try request(type)).get())
    }

    /// What is on its way to the telephone, once.
    func sent() async throws -> [PersonalMessage] {
        let now = world.time.now
        let leased = try await world.store.lease(.text, limit: 100, now: now, until: now.adding(seconds: 1))
        var messages: [PersonalMessage] = []
        for message in leased.map(\.message) {
            guard case .personal(let content, .phone, client: shop.id) = message.content else { continue }
            messages.append(content)
            try await world.record(.delivered, of: message, at: now)
        }
        return messages
    }

    func code() async throws -> EntryNumber {
        let code = try await sent().first?.values["code"]?.reveal()
        return try #require(code.flatMap { EntryNumber($0) })
    }

    func enter(_ code: EntryNumber, _ challenge: Challenge, by client: Client? = nil) async throws -> String {
        switch try await EnterCode.enter(code, for: challenge.id, by: (client ?? shop).caller, ports: world.ports) {
        case .approved(let challenge): "approved by \(challenge.state.outcome?.method ?? "-")"
        case .incorrect(let attemptsLeft): "incorrect \(attemptsLeft)"
        case .noCode: "no code"
        case .alreadyEnded(let status): "already \(status.state) \(status.reason ?? "-")"
        case .notFound: "not found"
        }
    }
}

extension ChallengeState {
    fileprivate var outcome: ChallengeOutcome? {
        if case .ended(let outcome, _) = self { outcome } else { nil }
    }
}

extension EntryNumber {
    /// Another number.
    fileprivate var wrong: EntryNumber { EntryNumber(value: (UInt32(digits) ?? 0) == 7 ? 8 : 7) }
}

@Suite("NIST SP 800-63B-4 §3.1.3.3: six digits by text message, where no device can answer")
struct TextCodeTests {
    @Test("Sent with what is asked and by whom, typed, approved, and called what it is", arguments: Engine.allCases)
    func whole(_ engine: Engine) async throws {
        let scene = try await TextScene(engine)
        var request = try scene.request()
        request.callbackURI = CallbackURI(stored: World.callback)
        request.locale = RequestedLanguage("de-AT")
        let asked = try await scene.asking(request).get()
        #expect(
            asked.number == nil && asked.code == nil && asked.enrollments.isEmpty, "the client is not told the code")
        let challenge = try await scene.world.challenge(asked)
        let message = try #require(try await scene.sent().first)
        #expect(message.template == .code && message.language == LanguageTag("de-AT"))
        let values = message.values.mapValues { $0.reveal() }
        #expect(values["sender"] == "ACME Shop" && values["question"] == "Pay EUR 1,250.00 to ACME GmbH?")
        #expect(values["minutes"] == "5")
        let code = try #require(EntryNumber(values["code"] ?? ""))
        #expect(try await scene.enter(code.wrong, challenge) == "incorrect 2")
        #expect(try await scene.enter(code, challenge) == "approved by text_code")
        #expect(try await scene.enter(code, challenge) == "already approved -")
        let stored = try #require(try await scene.world.store.read { try $0.challenges.find(asked.challenge.id) })
        #expect(stored.state == .ended(.entered, at: scene.world.time.now) && stored.numberHash == nil)
        let receipt = try await ShowReceipt.receipt(of: asked.challenge.id, to: scene.shop.id, ports: scene.world.ports)
        guard case .none = receipt else { throw World.Broken("a receipt") }
        let leased = try await scene.world.store.lease(
            .callback, limit: 9, now: scene.world.time.now, until: scene.world.time.now)
        guard case .callback(_, _, let body)? = leased.first?.message.content else { throw World.Broken("callback") }
        #expect(try JSONValue(parsing: body)["challenge"]?["method"] == "text_code")
        let told = try await scene.world.audit().filter { $0.challenge == asked.challenge.id }
        #expect(told.map(\.kind) == [.challengeAsked, .challengeApproved] && told.last?.enrollment == nil)
    }

    @Test(
        "After as many wrong codes as there may be the challenge has failed, and the right one is late",
        arguments: [nil, 1, 5])
    func attempts(_ attempts: Int?) async throws {
        let scene = try await TextScene(attempts: attempts)
        let challenge = try await scene.ask()
        let code = try await scene.code()
        for left in (0..<(attempts ?? 3)).reversed() {
            #expect(try await scene.enter(code.wrong, challenge) == "incorrect \(left)")
        }
        #expect(try await scene.enter(code, challenge) == "already failed too_many_attempts")
    }

    @Test("A node whose clock is an hour ahead gives no further codes, whichever node has asked")
    func clocks() async throws {
        let scene = try await TextScene()
        // The node that is ahead has asked: for the others there is more than an hour.
        let challenge = try await scene.ask()
        let code = try await scene.code()
        scene.world.time.advance(seconds: -3600)
        #expect(try await scene.enter(code.wrong, challenge) == "incorrect 2")
        #expect(try await scene.enter(code.wrong, challenge) == "incorrect 1")
        scene.world.time.advance(seconds: 3610)
        #expect(try await scene.enter(code.wrong, challenge) == "incorrect 0")
        #expect(try await scene.enter(code, challenge) == "already failed too_many_attempts")
    }

    @Test(
        "Wrong codes at once are no more than the limit, and a right one among them counts once",
        arguments: Engine.allCases)
    func race(_ engine: Engine) async throws {
        let scene = try await TextScene(engine)
        let challenge = try await scene.ask()
        let code = try await scene.code()
        let told = try await atOnce(8) { _ in try await scene.enter(code.wrong, challenge) }
        #expect(told.filter { $0 == "incorrect 2" }.count == 1 && told.filter { $0 == "incorrect 1" }.count == 1)
        #expect(told.filter { $0 == "incorrect 0" }.count >= 1)
        #expect(try await scene.enter(code, challenge) == "already failed too_many_attempts")
        let next = try await scene.ask()
        let right = try await scene.code()
        let twice = try await atOnce(2) { _ in try await scene.enter(right, next) }
        #expect(twice.sorted() == ["already approved -", "approved by text_code"])
    }

    @Test("It is fallen back to where no device can answer and a number is said; else there is nobody to ask")
    func fallback() async throws {
        let scene = try await TextScene()
        let challenge = try await scene.ask("careful")
        #expect(challenge.channel == .text && challenge.question.type == TypeName("sms"))
        func refusal(_ request: AskChallenge.Request, _ ports: Ports? = nil) async throws -> AskChallenge.Refusal? {
            if case .refused(let refusal) = try await scene.asking(request, ports) { refusal } else { nil }
        }
        #expect(try await refusal(try scene.request("careful", phone: nil)) == .noEnrollment)
        var shown = try scene.request("careful")
        shown.details = [try Detail(label: "Amount", value: "EUR 1,250.00")]
        #expect(try await refusal(shown) == .noEnrollment, "what nobody would be shown is not asked")
        let silent = scene.world.ports(sendingBy: Transports(mail: true))
        #expect(try await refusal(try scene.request("careful"), silent) == .noEnrollment)
        // By the type itself each says what is wrong.
        #expect(try await refusal(try scene.request(phone: nil)) == .phoneMissing)
        #expect(try await refusal(try scene.request(), silent) == .textsNotSetUp)
        shown.type = try #require(TypeName("sms"))
        #expect(try await refusal(shown) == .notAllowedByType(.details))
        let changes: [(AskChallenge.Part, (inout AskChallenge.Request) throws -> Void)] = [
            (.secureMessage, { $0.secureMessage = try DisplayMessage("Pay?") }),
            (.numberEntry, { $0.numberEntry = true }), (.methods, { $0.methods = [.confirm] }),
            (.enrollments, { $0.enrollments = [] }), (.signingData, { $0.signingData = SigningData("x") }),
            (.returnURI, { $0.returnURI = ReturnURI(stored: "https://shop.example.com/back") }),
        ]
        for (part, change) in changes {
            var request = try scene.request()
            try change(&request)
            #expect(try await refusal(request) == .notAllowedByType(part))
        }
        try await scene.world.makeType()
        #expect(try await refusal(try scene.request("payment")) == .notAllowedByType(.phone))
        // A device that can answer is asked, and nothing sent.
        let device = try await scene.world.makeDevice(of: scene.user, by: scene.shop)
        _ = try await device.setPIN()
        _ = try await scene.sent()
        #expect(try await scene.ask("careful").channel == .devices)
        #expect(try await scene.sent().isEmpty)
    }

    @Test("A number gets five an hour, whoever asks; only its keyed hash is kept")
    func limit() async throws {
        let scene = try await TextScene()
        for _ in 1...5 { _ = try await scene.ask() }
        scene.world.time.advance(seconds: 600)
        guard case .refused(.tooManyTexts(retryAfter: 3000)) = try await scene.asking(try scene.request()) else {
            throw World.Broken("a sixth")
        }
        #expect(try await scene.sent().count == 5)
        guard case .asked = try await scene.asking(try scene.request(phone: "+15557654321")) else {
            throw World.Broken("another number")
        }
        #expect(try await scene.world.count("challenges") == 6)
        let keys = try await scene.world.sql("SELECT key FROM attempts").map { try $0.text(0) }
        #expect(!keys.isEmpty && !keys.contains { $0.contains("5551234567") })
    }

    @Test(
        "NIST SP 800-63B-4 §3.2.2: after 100 wrong codes in a row no more are sent for a month, and a right one ends the row",
        arguments: Engine.allCases)
    func row(_ engine: Engine) async throws {
        let scene = try await TextScene(engine, attempts: 99)
        /// A code that nobody has yet typed, sent an hour after the last.
        func next() async throws -> (Challenge, EntryNumber) {
            scene.world.time.advance(seconds: 3600)
            return (try await scene.ask(), try await scene.code())
        }
        let (first, code) = try await next()
        for left in (1...98).reversed() { #expect(try await scene.enter(code.wrong, first) == "incorrect \(left)") }
        #expect(try await scene.enter(code, first) == "approved by text_code")
        let (second, other) = try await next()
        for left in (0...98).reversed() { #expect(try await scene.enter(other.wrong, second) == "incorrect \(left)") }
        let (third, _) = try await next()
        let open = try await scene.ask()
        let right = try await scene.code()
        #expect(try await scene.enter(right.wrong, third) == "incorrect 98")
        #expect(try await scene.enter(right, open) == "incorrect 98", "not looked at any more")
        guard case .refused(.tooManyAsks(retryAfter: let seconds)) = try await scene.asking(try scene.request()) else {
            throw World.Broken("a code after 100 wrong ones")
        }
        #expect(seconds == .days(30) - .hours(1))
        scene.world.time.advance(seconds: 30 * 86400)
        let (last, again) = try await next()
        #expect(try await scene.enter(again, last) == "approved by text_code")
    }

    @Test("Another client's, another kind's, and one of a user who is the client's no more is none")
    func others() async throws {
        let scene = try await TextScene()
        let challenge = try await scene.ask()
        let code = try await scene.code()
        let stranger = try await scene.world.makeClient("Elsewhere").client
        #expect(try await scene.enter(code, challenge, by: stranger) == "not found")
        try await scene.world.makeType("scan", numberEntry: false, channel: .code)
        let scanned = try await scene.world.ask(try scene.world.request(for: nil, type: "scan"), by: scene.shop)
        #expect(try await scene.enter(code, try await scene.world.challenge(scanned)) == "no code")
        let resent = try await ResendChallenge.resend(challenge.id, by: scene.shop.caller, ports: scene.world.ports)
        guard case .tooMany = resent else { throw World.Broken("resend") }
        let late = try await scene.ask()
        scene.world.time.advance(seconds: 300)
        #expect(try await scene.enter(code, late) == "already expired -")
        let last = try await scene.ask()
        #expect(
            try await UnlinkUser.unlink(.id(scene.user), from: scene.shop.caller, ports: scene.world.ports) == .unlinked
        )
        #expect(try await scene.enter(code, last) == "not found")
    }

    @Test("Nothing that a device would do, and no assurance that there is not, goes with it")
    func types() throws {
        let name = try #require(TypeName("sms"))
        let clients: JSONValue = ["cli_01m7yfa1b2c3d4e5f6g7h8j9k0"]
        let type = try ChallengeType(["text_code": true, "clients": clients], name: name)
        #expect(type.methods.isEmpty && type.lifetime == 300 && type.assurance == .event && !type.numberEntry)
        #expect(try ChallengeType(type.json, name: name).json == type.json, "as it is shown it may be sent back")
        let wrong: [(String, JSONValue)] = [
            ("methods", ["confirm"]), ("qr", true), ("number_entry", true), ("signing_data", true),
            ("assurance", "receipt"), ("aal2", true), ("fallback", "confirm"), ("unknown_browser", "qr"),
            ("expires_in", 601),
        ]
        for (member, value) in wrong {
            var settings: JSONObject = ["text_code": true, "clients": clients]
            settings[member] = value
            #expect {
                _ = try ChallengeType(.object(settings), name: name)
            } throws: { error in
                guard case JSONShapeError.invalid(let pointer, _) = error else { return false }
                return pointer == "/\(member)"
            }
        }
        #expect(throws: JSONShapeError.self) { _ = try ChallengeType(["methods": []], name: name) }
        #expect(throws: JSONShapeError.missing(pointer: "/clients")) {
            _ = try ChallengeType(["text_code": true], name: name)
        }
        // One that an earlier program accepted is read, and open to nobody.
        let open = try ChallengeType(["text_code": true], name: name, isStored: true)
        #expect(!open.isOpen(to: try #require(ClientID("cli_01m7yfa1b2c3d4e5f6g7h8j9k0"))))
    }
}
