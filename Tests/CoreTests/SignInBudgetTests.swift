import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// The shop and another client, which send and show codes by all ways, at two nodes with limits of the operator's.
private struct BudgetScene: Sendable {
    let shop: SignInScene
    let otherClient: ClientID
    /// The second node; it lives as long as the scene.
    let otherWorld: World
    /// The two nodes.
    let nodes: [Ports]

    init(mails: Int? = nil, texts: Int? = nil, codes: Int? = nil) async throws {
        shop = try await SignInScene(.chosen)
        let ways: Set<SignInWay> = [.device, .qr, .email, .text]
        let callingCodes = ["+49", "+4915", "+43"].compactMap { CallingCode($0) }
        try await shop.set(ways: ways, callingCodes: callingCodes)
        let other = try await shop.world.makeClient("Other", waives: true).client
        let party = RelyingParty(
            client: other.id, profile: .native, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
            askedBrowsers: .all, ways: ways, callingCodes: callingCodes)
        #expect(try await SetRelyingParty.set(party, by: .system, ports: shop.world.ports) == .set(party))
        otherClient = other.id
        otherWorld = try await shop.world.reopened()
        try await otherWorld.store.refreshKeys()
        let limits = Self.limits(mails: mails, texts: texts, codes: codes)
        nodes = [shop.world.ports(limits: limits), otherWorld.ports(limits: limits)]
    }

    /// The operator's limits, without a proof of work, which would come first.
    static func limits(mails: Int? = nil, texts: Int? = nil, codes: Int? = nil) -> ClientLimits {
        var limits = ClientLimits()
        limits.work = .off
        if let mails { limits.mails = mails }
        if let texts { limits.texts = texts }
        if let codes { limits.codeAsks = codes }
        return limits
    }

    func ask(
        _ address: PersonalAddress?, by way: SignInWay, at client: ClientID? = nil, in browser: String = "one",
        again signIn: AuthorizationID? = nil, from network: [UInt8]? = nil, node: Int = 0
    ) async throws -> AskSignIn.Outcome {
        var wanted = try shop.wanted()
        wanted.identifier = address.map { SignInName.address($0) }
        if let client { wanted.client = client }
        let request = AskSignIn.Request(
            CarriedSignIn(wanted: wanted, signIn: signIn), by: way, browser: try SignInScene.browser(browser),
            place: nil, network: network)
        return try await AskSignIn.ask(request, ports: nodes[node])
    }

    static func email(_ name: String) throws -> PersonalAddress { .email(try SignInScene.email(name)) }

    /// A number as somebody types it.
    static func phone(_ typed: String) throws -> PersonalAddress { try #require(PersonalAddress(typed: typed)) }
}

extension AskSignIn.Outcome {
    fileprivate var isAsked: Bool { if case .asked = self { true } else { false } }
}

// Each limit is used up, and tried from elsewhere. Those of a person and a mailbox are in SignInLimitsTests.
// Spec: docs/reference/limits.md.
@Suite("What a client, a device and an account may bring about in a time")
struct SignInBudgetTests {
    @Test("A client's pages send so many mails an hour, to all addresses, from all browsers and nodes together")
    func mails() async throws {
        let scene = try await BudgetScene(mails: 4)
        for number in 0..<4 {
            let outcome = try await scene.ask(
                try BudgetScene.email("person-\(number)"), by: .email, in: "\(number)",
                from: [192, 0, 2, UInt8(number)], node: number % 2)
            #expect(outcome.isAsked, "\(number)")
        }
        // Neither somebody else nor the browser of a person who has signed in is sent one more.
        _ = try await scene.shop.signedIn()
        for node in 0..<2 {
            for name in ["customer-1", "person-4"] {
                let refused = try await scene.ask(
                    try BudgetScene.email(name), by: .email, from: [198, 51, 100, 7], node: node)
                #expect(refused == .tooMany(retryAfter: 3600), "\(name)")
            }
        }
        // What else the client does is not concerned, nor is another client.
        #expect(try await scene.ask(nil, by: .qr).isAsked)
        #expect(try await scene.ask(try BudgetScene.email("person-5"), by: .device).isAsked)
        #expect(try await scene.ask(try BudgetScene.email("person-5"), by: .email, at: scene.otherClient).isAsked)
        scene.shop.world.time.advance(seconds: 3599)
        #expect(try await scene.ask(try BudgetScene.email("person-6"), by: .email) == .tooMany(retryAfter: 1))
        scene.shop.world.time.advance(seconds: 1)
        #expect(try await scene.ask(try BudgetScene.email("person-6"), by: .email).isAsked)
    }

    @Test("Of many mails that a client's pages are to send at once, on two nodes, so many go out")
    func mailsAtOnce() async throws {
        let scene = try await BudgetScene(mails: 4)
        let sent = try await atOnce(12) { number in
            let address = try BudgetScene.email("person-\(number)")
            return try await scene.ask(address, by: .email, in: "\(number)", node: number % 2).isAsked
        }
        #expect(sent.count { $0 } == 4)
    }

    @Test("Codes to addresses that people add count with the mails of the account page's client")
    func mailsOfAccount() async throws {
        let scene = try await AccountScene(.chosen)
        let session = try await scene.byMail()
        let ports = scene.world.ports(limits: BudgetScene.limits(mails: 2))
        func add(_ name: String) async throws -> AskAddressCode.Outcome {
            try await AskAddressCode.ask(
                try BudgetScene.email(name), after: nil, by: session, shownTo: scene.user, from: nil, in: .english,
                ports: ports)
        }
        for name in ["one", "two"] {
            guard case .sent = try await add(name) else { throw World.Broken("\(name)") }
        }
        #expect(try await add("three") == .tooMany(retryAfter: 3600))
        var wanted = try scene.shop.wanted("somebody", at: scene.account)
        wanted.redirectURI = scene.world.ports.issuer.accountPage
        let request = AskSignIn.Request(
            CarriedSignIn(wanted: wanted), by: .email, browser: try SignInScene.browser("other"), place: nil,
            network: nil)
        #expect(try await AskSignIn.ask(request, ports: ports) == .tooMany(retryAfter: 3600))
    }

    @Test("A client's pages send two hundred text messages an hour to one calling code, in whichever way it is listed")
    func textsOfCallingCode() async throws {
        let scene = try await BudgetScene()
        let shop = scene.shop.shop.id
        try await scene.nodes[0].commit(at: scene.shop.world.time.now, as: .system) { work in
            for _ in 0..<198 { _ = try work.count(.signInTextsOf(shop, prefix: "+49")) }
        }
        for number in 0..<2 {
            let outcome = try await scene.ask(
                try BudgetScene.phone("+49 30 1234567\(number)"), by: .text, in: "\(number)",
                from: [192, 0, 2, UInt8(number)], node: number)
            #expect(outcome.isAsked, "\(number)")
        }
        // Of several that fit, the first one counts.
        let numbers = ["+49 30 12345679", "+49 (151) 123-45678"]
        for (number, node) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let refused = try await scene.ask(
                try BudgetScene.phone(numbers[number]), by: .text, in: "two", from: [198, 51, 100, 7], node: node)
            #expect(refused == .tooMany(retryAfter: 3600), "\(numbers[number])")
        }
        #expect(try await scene.ask(try BudgetScene.phone("+43 1 2345678"), by: .text).isAsked)
        #expect(
            try await scene.ask(try BudgetScene.phone(numbers[0]), by: .text, at: scene.otherClient).isAsked)
        scene.shop.world.time.advance(seconds: 3600)
        #expect(try await scene.ask(try BudgetScene.phone(numbers[0]), by: .text).isAsked)
    }

    @Test("A client's pages send as many text messages an hour as the operator says, to all calling codes together")
    func texts() async throws {
        let scene = try await BudgetScene(texts: 3)
        let numbers = ["+49 30 1234567", "+49 151 1234567", "+43 1 2345678"]
        for (place, number) in numbers.enumerated() {
            let outcome = try await scene.ask(
                try BudgetScene.phone(number), by: .text, in: "\(place)", node: place % 2)
            #expect(outcome.isAsked, "\(number)")
        }
        for number in ["+49 30 7654321", "+43 1 8765432"] {
            for node in 0..<2 {
                let refused = try await scene.ask(
                    try BudgetScene.phone(number), by: .text, in: "other", from: [198, 51, 100, 7], node: node)
                #expect(refused == .tooMany(retryAfter: 3600), "\(number)")
            }
        }
        #expect(
            try await scene.ask(try BudgetScene.phone("+43 1 8765432"), by: .text, at: scene.otherClient).isAsked)
        scene.shop.world.time.advance(seconds: 3600)
        #expect(try await scene.ask(try BudgetScene.phone("+43 1 8765432"), by: .text).isAsked)
    }

    @Test("Text messages that a client asks for by its own calls count with those of its pages")
    func textsOfBoth() async throws {
        let scene = try await TextScene(.chosen)
        try await scene.world.store.commit { store in for type in ChallengeType.builtIn { try store.types.put(type) } }
        let party = RelyingParty(
            client: scene.shop.id, profile: .native,
            redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], askedBrowsers: .all,
            ways: [.qr, .text], callingCodes: [try #require(CallingCode("+1"))])
        #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        let ports = scene.world.ports(limits: BudgetScene.limits(texts: 3))
        func page(_ number: String) async throws -> AskSignIn.Outcome {
            var wanted = Wanted(client: scene.shop.id, redirectURI: SignInScene.redirectURI, scopes: ["openid"])
            wanted.identifier = .address(try BudgetScene.phone(number))
            let request = AskSignIn.Request(
                CarriedSignIn(wanted: wanted), by: .text, browser: try SignInScene.browser("one"), place: nil,
                network: nil)
            return try await AskSignIn.ask(request, ports: ports)
        }
        func call(_ number: String) async throws -> AskChallenge.Outcome {
            try await scene.asking(try scene.request(phone: number), ports)
        }
        #expect(try await page("+15557654321").isAsked)
        guard case .asked = try await call("+15557654322") else { throw World.Broken("call") }
        #expect(try await page("+15557654323").isAsked)
        #expect(try await call("+15557654324") == .refused(.tooManyTexts(retryAfter: 3600)))
        #expect(try await page("+15557654325") == .tooMany(retryAfter: 3600))
    }

    @Test("Of many codes that a client asks for at once, on two nodes, so many are sent as it may")
    func textsAtOnce() async throws {
        let scene = try await TextScene(.chosen)
        let other = try await scene.world.reopened()
        try await other.store.refreshKeys()
        let limits = BudgetScene.limits(texts: 3)
        let nodes = [scene.world.ports(limits: limits), other.ports(limits: limits)]
        var users: [UserID] = []
        for number in 0..<12 { users.append(try await scene.world.makeUser("person-\(number)", of: scene.shop)) }
        let asked = try await atOnce(12) { [users] number in
            var request = try scene.world.request(for: users[number], type: "sms")
            request.phone = PhoneNumber("+155576543\(number + 10)")
            let outcome = try await scene.asking(request, nodes[number % 2])
            if case .asked = outcome { return true }
            guard case .refused(.tooManyTexts) = outcome else { throw World.Broken("\(outcome)") }
            return false
        }
        #expect(asked.count { $0 } == 3)
    }

    @Test("A telephone number gets five codes an hour, however it is typed")
    func number() async throws {
        let scene = try await BudgetScene()
        let typed = [
            "+4915112345678", "+49 151 12345678", "+49-151-1234-5678", " +49(151)12345678", "+49/151/1234.5678\t",
        ]
        for (place, text) in typed.enumerated() {
            let client = place.isMultiple(of: 2) ? scene.otherClient : nil
            let outcome = try await scene.ask(
                try BudgetScene.phone(text), by: .text, at: client, in: "\(place)", node: place % 2)
            #expect(outcome.isAsked, "\(text)")
        }
        for text in typed {
            let refused = try await scene.ask(try BudgetScene.phone(text), by: .text, in: "other", node: 1)
            #expect(refused == .tooMany(retryAfter: 3600), "\(text)")
        }
        // Other forms are no numbers, so that nothing is sent to them.
        for text in [
            "004915112345678", "4915112345678", "+49 151 12345678 x", "+\u{FF14}\u{FF19}15112345678",
            "\u{FF0B}4915112345678", "+49\u{A0}15112345678", "+49151\u{200B}12345678", "tel:+4915112345678",
        ] {
            #expect(PersonalAddress(typed: text) == nil, "\(text)")
        }
        #expect(try await scene.ask(try BudgetScene.phone("+49 151 12345679"), by: .text).isAsked)
    }

    @Test("A client's pages show so many codes to scan in a minute, to all browsers and for all names together")
    func codes() async throws {
        let scene = try await BudgetScene(codes: 3)
        let first = try await scene.ask(nil, by: .qr)
        guard case .asked(let open) = first else { throw World.Broken("\(first)") }
        #expect(try await scene.ask(nil, by: .qr, in: "two", from: [192, 0, 2, 1], node: 1).isAsked)
        #expect(try await scene.ask(nil, by: .qr, again: open.id).isAsked, "the same page once more")
        for node in 0..<2 {
            let other = try await scene.ask(nil, by: .qr, in: "three", from: [198, 51, 100, 7], node: node)
            #expect(other == .tooMany(retryAfter: 60))
            let named = try await scene.ask(try BudgetScene.email("customer-1"), by: .qr, node: node)
            #expect(named == .tooMany(retryAfter: 60))
            #expect(try await scene.ask(nil, by: .qr, again: open.id, node: node) == .tooMany(retryAfter: 60))
        }
        #expect(try await scene.ask(try BudgetScene.email("customer-1"), by: .device).isAsked)
        #expect(try await scene.ask(nil, by: .qr, at: scene.otherClient).isAsked)
        scene.shop.world.time.advance(seconds: 60)
        #expect(try await scene.ask(nil, by: .qr).isAsked)
    }

    @Test("Of many codes that a client's pages are to show at once, on two nodes, so many are shown")
    func codesAtOnce() async throws {
        let scene = try await BudgetScene(codes: 3)
        let shown = try await atOnce(12) { number in
            try await scene.ask(nil, by: .qr, in: "\(number)", node: number % 2).isAsked
        }
        #expect(shown.count { $0 } == 3)
    }

    @Test("What passkeys answer counts with the sixty sign-ins that a network begins in a minute")
    func passkeys() async throws {
        let scene = try await AccountScene(.chosen)
        let (passkey, _) = try await scene.passkey(by: try await scene.byPIN())
        let network: [UInt8] = [192, 0, 2, 1]
        func enter(from network: [UInt8], in browser: String) async throws -> EnterPasskey.Outcome {
            let ceremony = try scene.ceremony()
            let request = EnterPasskey.Request(
                try passkey.signIn(ceremony.requestOptions), in: ceremony,
                CarriedSignIn(wanted: try scene.shop.wanted(nil, at: scene.shop.shop)),
                browser: try SignInScene.browser(browser), place: nil, network: network)
            return try await EnterPasskey.enter(request, ports: scene.world.ports)
        }
        for number in 0..<59 {
            let outcome = try await scene.shop.ask("nobody-\(number)", network: network)
            #expect(outcome.isAsked, "\(number)")
        }
        guard case .authenticated = try await enter(from: network, in: "one") else { throw World.Broken("sixtieth") }
        for browser in ["one", "two"] {
            #expect(try await enter(from: network, in: browser) == .tooMany(retryAfter: 60))
        }
        #expect(try await scene.shop.ask("nobody", network: network) == .tooMany(retryAfter: 60))
        guard case .authenticated = try await enter(from: [198, 51, 100, 7], in: "one") else {
            throw World.Broken("another network")
        }
    }

    @Test("Codes to addresses that one adds are ten an hour, in all sessions, at all nodes, also at once")
    func addressCodes() async throws {
        let scene = try await AccountScene(.chosen)
        let sessions = [try await scene.byMail(), try await scene.byMail()]
        let other = try await scene.world.reopened()
        try await other.store.refreshKeys()
        let nodes = [scene.world.ports, other.ports]
        let outcomes = try await atOnce(16) { number in
            try await AskAddressCode.ask(
                try BudgetScene.email("address-\(number)"), after: nil, by: sessions[number % 2],
                shownTo: scene.user, from: nil, in: .english, ports: nodes[number / 2 % 2])
        }
        let refused = outcomes.filter { $0 == .tooMany(retryAfter: 3600) }
        let sent = outcomes.filter { outcome in
            if case .sent = outcome { true } else { false }
        }
        #expect(sent.count == 10 && refused.count == 6)
    }

    @Test("Twenty tries a month at codes to add an address are for one mailbox, however it is spelled")
    func addressTries() async throws {
        let scene = try await AccountScene(.chosen)
        let session = try await scene.byMail()
        let name = scene.world.ports.hasher.name(of: try BudgetScene.email("new"))
        let user = scene.user
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            for _ in 0..<19 { _ = try work.count(.addressCodeTries(of: user, for: name)) }
        }
        let sent = try await scene.sent("new", by: session)
        let wrong = EntryNumber(value: (UInt32(scene.code(of: sent).digits) ?? 0) == 0 ? 1 : 0)
        #expect(try await scene.enter(sent, wrong, by: session) == .wrong(triesLeft: 4))
        #expect(try await scene.enter(sent, by: session) == .wrong(triesLeft: 3), "the right one is looked at no more")
        for spelling in ["new", "NEW", "new+x", "New+Y"] {
            guard case .tooMany = try await scene.ask(spelling, by: session) else { throw World.Broken(spelling) }
        }
        guard case .sent = try await scene.ask("other", by: session) else { throw World.Broken("another address") }
    }

    // A text message costs, and whoever owns expensive numbers can make an account with one.
    @Test("What one does on the account page on and on has ten text messages sent in an hour")
    func notices() async throws {
        let scene = try await AccountScene(.chosen)
        let (world, user) = (scene.world, scene.user)
        let second = try await world.makeDevice(of: user, by: scene.shop.shop)
        try await sendTexts(scene, to: ["+49 151 12345678"])
        let session = try await scene.byTap()
        for turn in 0..<210 {
            let act = turn.isMultiple(of: 2) ? ActOnOwnDevice.Act.suspend : .resume
            _ = try await scene.act(act, on: second.enrollment, by: session)
        }
        #expect(try await world.count("outbox", where: "kind = 'text'") == 10)
    }

    @Test("Neither another act, session, place, number nor node has more text messages sent, nor do acts at once")
    func noticesElsewhere() async throws {
        let scene = try await UserCodeScene(.chosen)
        let (world, user, account) = (scene.world, scene.user, scene.account)
        let second = try await world.makeDevice(of: user, by: scene.shop)
        try await sendTexts(account, to: ["+49 151 12345678", "+49 30 1234567"])
        let other = try await world.reopened()
        try await other.store.refreshKeys()
        let nodes = [world.ports, other.ports]
        let sessions = [try await account.byTap(), try await account.byPIN()]
        _ = try await account.mails()
        let outcomes = try await atOnce(16) { number in
            try await ChangeOwnUserCode.set(
                try scene.code("Blue-47\(number + 10) kite"), by: sessions[number % 2], shownTo: user,
                from: ContextLine(address: "192.0.2.\(number)", userAgent: nil), in: .english,
                ports: nodes[number / 2 % 2])
        }
        // All is done, and mails tell of it.
        #expect(outcomes == Array(repeating: .done, count: 16))
        #expect(try await account.mails().count { $0.message.template == .userCode } == 16)
        #expect(try await world.count("outbox", where: "kind = 'text'") == 10)
        for session in sessions {
            for act in [ActOnOwnDevice.Act.suspend, .resume] {
                guard case .done = try await account.act(act, on: second.enrollment, by: session) else {
                    throw World.Broken("\(act)")
                }
            }
        }
        #expect(try await account.mails().count { $0.message.template == .device } == 4)
        #expect(try await world.count("outbox", where: "kind = 'text'") == 10)
        world.time.advance(seconds: 3600)
        #expect(try await scene.set(UserCodeScene.code, by: try await account.byPIN()) == .done)
        #expect(try await world.count("outbox", where: "kind = 'text'") == 12, "one to each number")
    }

    /// Has the account page send text messages, and gives the user, whose phone is confirmed, these numbers.
    private func sendTexts(_ scene: AccountScene, to numbers: [String]) async throws {
        let (world, user) = (scene.world, scene.user)
        let party = RelyingParty(
            client: scene.account.id, profile: .native,
            redirectURIs: [try #require(RedirectURI(world.ports.issuer.accountPage))], askedBrowsers: .all,
            ways: [.passkey, .device, .qr, .email, .text], registration: .known,
            callingCodes: [try #require(CallingCode("+49"))])
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await scene.confirmPhone()
        for number in numbers {
            let address = try BudgetScene.phone(number)
            try await world.ports.commit(at: world.time.now, as: .system) { work in
                _ = try work.verify(address, of: user)
            }
        }
    }
}

/// A device with a PIN, two clients that take its sign-ins, and two nodes.
private struct OwnScene: Sendable {
    let shop: SignInScene
    let clients: [ClientID]
    let other: World

    init() async throws {
        shop = try await SignInScene(.chosen)
        _ = try await shop.device.setPIN()
        let second = try await shop.otherClient()
        let isLinked = try await shop.world.store.commit { [user = shop.user] in
            try $0.links.put(user, to: second, externalID: nil)
        }
        #expect(isLinked)
        clients = [shop.shop.id, second]
        other = try await shop.world.reopened()
        try await other.store.refreshKeys()
    }

    var nodes: [Ports] { [shop.world.ports, other.ports] }

    /// Signs in by a signature.
    func signIn(at client: Int, node: Int, by device: TestDevice? = nil) async throws -> SignInDevice.Outcome {
        let device = device ?? shop.device
        let assertion = DeviceAssertion(
            enrollment: device.enrollment, user: device.invitation.user, issuer: shop.world.ports.issuer,
            client: "\(clients[client])", named: Hex.encode(shop.world.random.bytes(16)), at: shop.world.time.now)
        return try await SignInDevice.signIn(
            by: Secret(try await assertion.signed(by: device.authentication)), scopes: ["openid"],
            at: clients[client], ports: nodes[node])
    }

    /// Asks for the PIN.
    func ask(at client: Int, node: Int) async throws -> AskOwnSignIn.Outcome {
        try await AskOwnSignIn.ask(at: clients[client], by: try await shop.device.call(), ports: nodes[node])
    }
}

extension SignInDevice.Outcome {
    fileprivate var isSignedIn: Bool { if case .signedIn = self { true } else { false } }
}

extension SignInBudgetTests {
    @Test("A device signs its user in sixty times a minute, by both of its ways, at all clients and nodes together")
    func ownSignIns() async throws {
        let scene = try await OwnScene()
        for number in 0..<30 {
            let (client, node) = (number % 2, number / 2 % 2)
            #expect(try await scene.signIn(at: client, node: node).isSignedIn, "\(number)")
            guard case .asked = try await scene.ask(at: client, node: node) else { throw World.Broken("\(number)") }
        }
        for (client, node) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            #expect(try await scene.signIn(at: client, node: node) == .tooMany(retryAfter: 60))
            #expect(try await scene.ask(at: client, node: node) == .tooMany(retryAfter: 60))
        }
        let second = try await scene.shop.world.makeDevice(of: scene.shop.user, by: scene.shop.shop)
        #expect(try await scene.signIn(at: 0, node: 0, by: second).isSignedIn)
        scene.shop.world.time.advance(seconds: 60)
        #expect(try await scene.signIn(at: 0, node: 0).isSignedIn)
    }

    @Test("Of many sign-ins of a device at once, on two nodes, sixty go on")
    func ownSignInsAtOnce() async throws {
        let scene = try await OwnScene()
        let outcomes = try await atOnce(80) { try await scene.signIn(at: $0 % 2, node: $0 / 2 % 2) }
        #expect(outcomes.count { $0.isSignedIn } == 60)
        #expect(outcomes.count { $0 == .tooMany(retryAfter: 60) } == 20)
    }
}
