import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import RelyingPartyAPI
import StorageTestSupport
import TestSupport
import Testing

/// The hot paths beside possession and a push: codes, links, known browsers, text messages, PINs.
extension QueryPlanTests {
    @Test("Presenting a code, coming back by a link, and browsers that are known by it")
    func codes() async throws {
        let client = try await world.makeClient(returns: ["https://shop.example.com/back"]).client
        let user = try await world.makeUser("customer", of: client)
        let device = try await world.makeDevice(of: user, by: client)
        try await world.makeType("scan", numberEntry: false, channel: .code)
        let login = try ChallengeType(
            ["unknown_browser": "scan", "number_entry": false], name: try #require(TypeName("login")))
        try await SetType.set(login, by: client.actor, ports: world.ports)
        // Many codes that nobody has presented, of which the database knows: the index of those finds no single one.
        _ = try await world.ask(try world.request(for: nil, type: "scan"), by: client)
        let columns =
            "client_id, client_name, type, nonce, asked_at, details, message, alert, methods, expires_at, channel, purpose"
        try await world.sql(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            INSERT INTO challenges (id, state, \(columns)) SELECT id || i, state, \(columns) FROM challenges, n
            """)
        try await world.sql("ANALYZE challenges")
        _ = recorder.take()
        // From a browser that nobody knows a code is shown.
        var request = try world.request(for: user, type: "login")
        request.browser = BrowserID("3f1c9a04-7c55-4be1")
        let unknown = try await world.ask(request, by: client)
        try await approve(unknown, on: device)
        let known = try await world.ask(request, by: client)
        #expect(known.code == nil)
        guard case .decided = try await device.answer(known, .reported) else { throw World.Broken("report") }
        // By a link: claimed, approved, kept until the code comes back.
        var link = try world.request(for: nil, type: "scan")
        link.returnURI = ReturnURI(stored: "https://shop.example.com/back")
        let asked = try await world.ask(link, by: client)
        let outcome = try await approve(asked, on: device)
        guard let code = try await device.returnCode(in: outcome) else { throw World.Broken("return code") }
        guard
            case .codeInvalid = try await ReturnChallenge.present(
                Secret("wrong"), for: asked.challenge.id, by: client.caller, ports: world.ports),
            case .released = try await ReturnChallenge.present(
                code, for: asked.challenge.id, by: client.caller, ports: world.ports)
        else { throw World.Broken("return") }
        try await expectIndexed([
            "SELECT 1 FROM known_browsers", "INSERT INTO known_browsers", "DELETE FROM known_browsers",
            "UPDATE challenges SET user_id", "UPDATE challenges SET method", "UPDATE challenges SET state",
            "INSERT INTO asking_locks", "FROM asking_locks", "INSERT INTO attempts",
        ])
    }

    /// Presents a challenge's code, opens it and approves it.
    @discardableResult
    private func approve(
        _ asked: AskedChallenge, on device: TestDevice
    ) async throws -> AnswerChallenge.Outcome {
        let code = try #require(asked.code).code
        guard case .claimed = try await ClaimChallenge.claim(code, by: try await device.call(), ports: world.ports)
        else { throw World.Broken("claim") }
        try await device.open(asked.challenge.id)
        let kept = try #require(try await world.store.read { try $0.challenges.find(asked.challenge.id) })
        let receipt = try await device.receipt(of: kept, .approved(.confirm, number: nil))
        return try await device.answer(asked.challenge.id, with: receipt)
    }

    @Test("A code by text message: asked, entered wrongly, entered")
    func textCodes() async throws {
        let client = try await world.makeClient().client
        let user = try await world.makeUser("customer", of: client)
        let type = try ChallengeType(
            ["text_code": true, "clients": [.string("\(client.id)")]], name: try #require(TypeName("sms")))
        try await SetType.set(type, by: client.actor, ports: world.ports)
        _ = recorder.take()
        var request = try world.request(for: user, type: "sms")
        request.phone = PhoneNumber("+15551234567")
        let asked = try await world.ask(request, by: client)
        let now = world.time.now
        let leased = try await world.store.lease(.text, limit: 1, now: now, until: now.adding(seconds: 1))
        guard case .personal(let content, _, _) = leased.first?.message.content,
            let code = content.values["code"]?.reveal(), let right = EntryNumber(code),
            let wrong = EntryNumber(code == "111111" ? "222222" : "111111")
        else { throw World.Broken("text message") }
        for number in [wrong, right] {
            _ = try await EnterCode.enter(number, for: asked.challenge.id, by: client.caller, ports: world.ports)
        }
        #expect(
            try await world.store.read { try $0.challenges.find(asked.challenge.id)?.state.status.state }
                == "approved")
        try await expectIndexed([
            "INSERT INTO outbox", "UPDATE challenges SET state", "INSERT INTO attempts", "FROM attempts",
            "DELETE FROM attempts",
        ])
    }

    @Test("A PIN: set, wrong, right, locked")
    func pins() async throws {
        let client = try await world.makeClient().client
        let user = try await world.makeUser("customer", of: client)
        let device = try await world.makeDevice(of: user, by: client)
        try await world.makeType(methods: [.pin])
        _ = recorder.take()
        let pin = try await device.setPIN()
        let request = try world.request(for: user)
        let wrong = device.newPINKey()
        for keys in [[wrong, pin], Array(repeating: wrong, count: 5)] {
            let asked = try await world.ask(request, by: client)
            try await device.open(asked.challenge.id)
            for key in keys {
                _ = try await device.answer(
                    asked.challenge.id, with: try await device.approval(of: asked, by: key))
            }
        }
        #expect(try await device.methods().pin == .locked)
        try await expectIndexed([
            "UPDATE enrollments SET pin_key", "wrong_pins = wrong_pins + 1", "SET wrong_pins = 0", "SET pin_locked_at",
            "INSERT INTO answers", "SELECT certificate FROM enrollments",
        ])
    }
}
