import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Each limit on sign-ins is used up in the plain way, and then somebody tries to get round it in every way there is.
// The limits of clients, devices and accounts are in SignInBudgetTests.
// Spec: docs/reference/limits.md; docs/security/threat-model.md, *Guessing*.
@Suite("Ways round the limits of sign-ins")
struct SignInLimitsTests {
    /// What somebody changes about a request to have it counted apart.
    enum Trick: CaseIterable {
        case nothing, otherBrowser, otherClient, otherCase, otherDomain, otherName, tag, otherNetwork, otherNode

        /// Those with which the same person is found: a name with a tag is another one.
        static let ofPerson = allCases.filter { $0 != .tag }
        /// Those with which the same mailbox is written to: the client's own name for the person is none.
        static let ofMailbox = allCases.filter { $0 != .otherName }
    }

    private struct Scene: Sendable {
        let shop: SignInScene
        let otherClient: ClientID
        let otherNode: World

        init(_ engine: Engine, registration: RelyingParty.Registration = .closed) async throws {
            shop = try await SignInScene(engine)
            try await shop.set(ways: [.device, .qr, .email], registration: registration)
            let other = try await shop.world.makeClient("Other", waives: true).client
            let party = RelyingParty(
                client: other.id, profile: .native,
                redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], askedBrowsers: .all,
                ways: [.device, .qr, .email])
            #expect(try await SetRelyingParty.set(party, by: .system, ports: shop.world.ports) == .set(party))
            let isLinked = try await shop.world.store.commit { [shop] in
                try $0.links.put(shop.user, to: other.id, externalID: nil)
            }
            #expect(isLinked)
            _ = try await UpdateUser.update(
                .id(shop.user), .init(addresses: ClaimedAddresses(email: try SignInScene.email("customer-1"))),
                by: other.caller, ports: shop.world.ports)
            otherClient = other.id
            otherNode = try await shop.world.reopened()
            try await otherNode.store.refreshKeys()
        }

        static func email(_ text: String) throws -> SignInName {
            .address(.email(try #require(EmailAddress(text))))
        }

        /// What is typed, or what the client's request suggests.
        private static func name(_ trick: Trick) throws -> SignInName {
            switch trick {
            case .otherCase: return try email("CUSTOMER-1@EXAMPLE.COM")
            case .otherDomain: return try email("customer-1@\u{FF45}xample.com")
            case .tag: return try email("Customer-1+x@EXAMPLE.com")
            case .otherName: return .externalID(try ExternalID("customer-1"))
            case .nothing, .otherBrowser, .otherClient, .otherNetwork, .otherNode:
                return try email("customer-1@example.com")
            }
        }

        func browser(_ trick: Trick) throws -> BrowserID {
            try trick == .otherBrowser ? SignInScene.browser("other") : shop.browser
        }

        func ports(_ trick: Trick) -> Ports { trick == .otherNode ? otherNode.ports : shop.world.ports }

        /// Asks as the plain request does, but for a trick or a name; nil if there were too many.
        func ask(
            by way: SignInWay, _ trick: Trick = .nothing, in browser: String? = nil, named name: SignInName? = nil
        ) async throws -> Authorization? {
            var wanted = try shop.wanted()
            wanted.identifier = try name ?? Self.name(trick)
            if trick == .otherClient { wanted.client = otherClient }
            let used: BrowserID
            if let browser { used = try SignInScene.browser(browser) } else { used = try self.browser(trick) }
            let request = AskSignIn.Request(
                CarriedSignIn(wanted: wanted), by: way, browser: used,
                place: ContextLine(address: trick == .otherNetwork ? "198.51.100.7" : "192.0.2.1", userAgent: nil),
                network: trick == .otherNetwork ? [198, 51, 100, 7] : [192, 0, 2, 1])
            let ports = self.ports(trick)
            let outcome = try await AskSignIn.ask(request, ports: ports)
            if case .tooMany = outcome { return nil }
            guard case .asked(let asked) = outcome else { throw World.Broken("\(outcome)") }
            if let challenge = asked.ask?.challenge, way == .device {
                try await PutSignIn.put(asked.id, by: challenge, ports: ports)
            }
            return asked
        }

        /// Asks for another code of a sign-in, as its page does but for a trick.
        func askAgain(_ earlier: Authorization, _ trick: Trick) async throws -> AskSignIn.Outcome {
            var wanted = try shop.wanted()
            wanted.identifier = try Self.name(trick)
            if trick == .otherClient { wanted.client = otherClient }
            let request = AskSignIn.Request(
                CarriedSignIn(wanted: wanted, signIn: earlier.id), by: .email, browser: try browser(trick), place: nil,
                network: trick == .otherNetwork ? [198, 51, 100, 7] : [192, 0, 2, 1])
            return try await AskSignIn.ask(request, ports: ports(trick))
        }

        /// Whether the person's devices are asked, after all that was asked before is over.
        func isAsked(_ trick: Trick) async throws -> Bool {
            shop.world.time.advance(seconds: 121)
            return try await shop.isPut(try #require(try await ask(by: .device, trick)))
        }

        /// Has the person signed in from the shop's browser, at both clients.
        func makeKnown() async throws {
            let world = shop.world
            for client in [shop.shop.id, otherClient] {
                let browser = world.ports.hasher.hash(of: shop.browser, client: client)
                try await world.ports.commit(at: world.time.now, as: .system) { [user = shop.user] work in
                    try work.browsers.put(browser, of: user, by: client, at: work.now)
                }
            }
        }

        /// The code of a sign-in, and one that is not it.
        func codes(of asked: Authorization) throws -> (right: EntryNumber, wrong: EntryNumber) {
            let right = shop.world.ports.hasher.code(of: try #require(asked.ask?.verification))
            let wrong = EntryNumber(value: (try #require(UInt32(right.digits)) + 1) % 1_000_000)
            return (right, wrong)
        }

        func enter(
            _ code: EntryNumber, for asked: Authorization, _ trick: Trick = .nothing
        ) async throws -> EnterSignInCode.Outcome {
            try await EnterSignInCode.enter(.code(code), for: asked.id, in: try browser(trick), ports: ports(trick))
        }

        /// Types five wrong codes for what was sent, as often as an address is sent a code.
        func typeWrong(_ trick: Trick, _ note: Comment) async throws {
            shop.world.time.advance(seconds: 720)
            let asked = try #require(try await ask(by: .email, trick), note)
            #expect(try await shop.sent(for: asked) != nil, note)
            let wrong = try codes(of: asked).wrong
            for _ in 0..<5 { _ = try await enter(wrong, for: asked, trick) }
        }
    }

    @Test(
        "Unknown browsers together have a person's devices asked three times an hour, whatever they change",
        arguments: Engine.allCases)
    func asks(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        for trick in [Trick.nothing, .otherBrowser, .otherNode] { #expect(try await scene.isAsked(trick)) }
        for trick in Trick.allCases { #expect(try await !scene.isAsked(trick), "\(trick)") }
    }

    @Test(
        "Whatever is changed about it, a request has the person's devices asked, and counts with the others",
        arguments: Trick.ofPerson)
    func asksAlike(_ trick: Trick) async throws {
        let scene = try await Scene(.chosen)
        for _ in 0..<2 { #expect(try await scene.isAsked(.nothing)) }
        #expect(try await scene.isAsked(trick))
        for again in [trick, .nothing] { #expect(try await !scene.isAsked(again), "\(again)") }
    }

    @Test("In browsers that are theirs a person's devices are asked ten times an hour, over all clients and nodes")
    func knownAsks() async throws {
        let scene = try await Scene(.chosen)
        try await scene.makeKnown()
        let tricks: [Trick] = [.nothing, .otherClient, .otherNode, .otherName, .otherCase]
        for number in 0..<10 { #expect(try await scene.isAsked(tricks[number % 5]), "\(number)") }
        for trick in tricks { #expect(try await !scene.isAsked(trick), "\(trick)") }
        // What unknown browsers may is counted apart.
        #expect(try await scene.isAsked(.otherBrowser))
    }

    // Spec: docs/decisions/0072-signing-in.md.
    @Test("For a day after a report no unknown browser has the person's devices asked, whatever is changed")
    func reported() async throws {
        let scene = try await Scene(.chosen)
        let asked = try #require(try await scene.ask(by: .device))
        #expect(try await scene.shop.isPut(asked))
        try await scene.shop.answer(asked) { _ in .reported }
        for trick in Trick.ofPerson { #expect(try await !scene.isAsked(trick), "\(trick)") }
        scene.shop.world.time.advance(seconds: 86_400)
        #expect(try await scene.isAsked(.nothing))
    }

    @Test(
        "Of many asks at once, at two clients and on two nodes, the person's devices get one",
        arguments: Engine.allCases)
    func asksAtOnce(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let put = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let tricks: [Trick] = [.nothing, .otherNode, .otherClient, .otherName]
                    let asked = try await scene.ask(by: .device, tricks[number % 4], in: "\(number)")
                    return try await scene.shop.isPut(try #require(asked))
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(put == 1)
    }

    @Test("A mailbox gets five codes an hour, whatever is changed about the request", arguments: Engine.allCases)
    func messages(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        for trick in [Trick.nothing, .otherBrowser, .otherClient, .otherNode, .tag] {
            #expect(try await scene.ask(by: .email, trick) != nil, "\(trick)")
        }
        for trick in Trick.ofMailbox { #expect(try await scene.ask(by: .email, trick) == nil, "\(trick)") }
        scene.shop.world.time.advance(seconds: 3599)
        for trick in Trick.ofMailbox { #expect(try await scene.ask(by: .email, trick) == nil, "\(trick)") }
        scene.shop.world.time.advance(seconds: 1)
        #expect(try await scene.ask(by: .email) != nil)
    }

    @Test(
        "Whatever is changed about it, a request has a code sent, and counts with the others",
        arguments: Trick.ofMailbox)
    func messagesAlike(_ trick: Trick) async throws {
        let scene = try await Scene(.chosen)
        for _ in 0..<4 { #expect(try await scene.ask(by: .email) != nil) }
        #expect(try await scene.ask(by: .email, trick) != nil)
        for again in [trick, .nothing] { #expect(try await scene.ask(by: .email, again) == nil, "\(again)") }
    }

    @Test(
        "Whatever is changed about a request, a sign-in's next code is sent after thirty seconds, and one of many at once",
        arguments: Engine.allCases)
    func pause(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let first = try #require(try await scene.ask(by: .email))
        for (wait, left) in [(Seconds(0), Seconds(30)), (Seconds(29), Seconds(1))] {
            scene.shop.world.time.advance(wait)
            for trick in Trick.allCases {
                // Another browser or client has no page of this sign-in.
                let isOther = trick == .otherBrowser || trick == .otherClient
                let expected: AskSignIn.Outcome = isOther ? .tooLate : .tooEarly(first, retryAfter: left)
                #expect(try await scene.askAgain(first, trick) == expected, "\(trick)")
            }
        }
        scene.shop.world.time.advance(seconds: 1)
        let tricks: [Trick] = [.nothing, .otherNode, .otherNetwork, .tag]
        let outcomes = try await atOnce(8) { try await scene.askAgain(first, tricks[$0 % 4]) }
        let sent = outcomes.filter { outcome in
            if case .asked = outcome { true } else { false }
        }
        let early = outcomes.filter { outcome in
            if case .tooEarly(_, retryAfter: let left) = outcome { left == 30 } else { false }
        }
        #expect(sent.count == 1 && early.count == 7)
        // Another visit has no pause, and the five an hour.
        for number in 0..<3 { #expect(try await scene.ask(by: .email, in: "\(number)") != nil, "\(number)") }
        #expect(try await scene.ask(by: .email, in: "last") == nil)
    }

    @Test("An address that is no plain one is not taken, so that it is sent nothing")
    func otherForms() throws {
        for text in [
            "customer-1@example.com.", "\"customer-1\"@example.com", "customer-1(x)@example.com",
            "a,customer-1@example.com", "customer-1 @example.com", "customer-1@[192.0.2.1]",
            "<customer-1@example.com>", "customer-1@example.com\u{200B}", "cu\u{301}stomer-1@example.com",
            "customer-1\u{AD}@example.com", "mailto:customer-1@example.com",
        ] {
            #expect(PersonalAddress(typed: text) == nil, "\(text)")
        }
    }

    // A mail server splits the name at the octet `+`, whatever follows it. Spec: RFC 5233 §1.
    @Test("A mark that is combined with the sign of a tag makes no other mailbox of it")
    func combinedTag() async throws {
        let scene = try await Scene(.chosen)
        for _ in 0..<5 { #expect(try await scene.ask(by: .email) != nil) }
        let name = try Scene.email("customer-1+\u{301}@example.com")
        #expect(try await scene.ask(by: .email, named: name) == nil)
    }

    @Test("Dots in a name make no other mailbox of it: a large mail service takes no notice of them")
    func dots() async throws {
        let scene = try await Scene(.chosen)
        for _ in 0..<5 { #expect(try await scene.ask(by: .email) != nil) }
        #expect(try await scene.ask(by: .email, named: try Scene.email("c.usto.mer-1@example.com")) == nil)
    }

    @Test("Of many requests at once, on two nodes, five have a code sent", arguments: Engine.allCases)
    func messagesAtOnce(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let sent = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<12 {
                group.addTask {
                    try await scene.ask(by: .email, number.isMultiple(of: 2) ? .nothing : .otherNode) != nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(sent == 5)
    }

    @Test("A code is typed five times, on whichever node")
    func typed() async throws {
        let scene = try await Scene(.sqlite)
        let asked = try #require(try await scene.ask(by: .email))
        let right = scene.shop.world.ports.hasher.code(of: try #require(asked.ask?.verification))
        let wrong = EntryNumber(value: (try #require(UInt32(right.digits)) + 1) % 1_000_000)
        for number in 0..<5 {
            let ports = number.isMultiple(of: 2) ? scene.shop.world.ports : scene.otherNode.ports
            _ = try await EnterSignInCode.enter(.code(wrong), for: asked.id, in: scene.shop.browser, ports: ports)
        }
        for ports in [scene.shop.world.ports, scene.otherNode.ports] {
            let outcome = try await EnterSignInCode.enter(
                .code(right), for: asked.id, in: scene.shop.browser, ports: ports)
            guard case .over = outcome else { throw World.Broken("\(outcome)") }
        }
    }

    // Spec: NIST SP 800-63B-4 §3.2.2.
    @Test("After eighty wrong codes in a row none is sent or taken, whatever is changed about the requests")
    func wrongCodes() async throws {
        let scene = try await Scene(.chosen)
        let tricks: [Trick] = [.nothing, .otherBrowser, .otherClient, .otherCase, .otherDomain, .otherNode]
        for number in 0..<16 { try await scene.typeWrong(tricks[number % 6], "\(number)") }
        for trick in tricks {
            scene.shop.world.time.advance(seconds: 720)
            let asked = try #require(try await scene.ask(by: .email, trick))
            #expect(try await scene.shop.sent(for: asked) == nil, "\(trick)")
            let outcome = try await scene.enter(try scene.codes(of: asked).right, for: asked, trick)
            guard case .wrong(_, triesLeft: 4) = outcome else { throw World.Broken("\(trick): \(outcome)") }
        }
    }

    // Where a tag is none, somebody else may have that mailbox, and type its codes.
    @Test("A right code for a name with a tag ends no row of wrong codes for the name without it")
    func tagEndsNoRow() async throws {
        let scene = try await Scene(.chosen, registration: .open)
        for number in 0..<15 { try await scene.typeWrong(.otherBrowser, "\(number)") }
        scene.shop.world.time.advance(seconds: 720)
        let own = try #require(try await scene.ask(by: .email, .tag))
        #expect(try await scene.enter(try scene.codes(of: own).right, for: own) == .authenticated)
        try await scene.typeWrong(.otherBrowser, "the last five")
        scene.shop.world.time.advance(seconds: 720)
        let asked = try #require(try await scene.ask(by: .email, .otherBrowser))
        #expect(try await scene.shop.sent(for: asked) == nil)
    }

    @Test("Sixty sign-ins a minute begin from one network, on two nodes and by every client, name and way together")
    func network() async throws {
        let scene = try await Scene(.sqlite)
        let tricks: [Trick] = [.nothing, .otherBrowser, .otherClient, .otherNode, .tag, .otherName]
        for number in 0..<60 {
            let way = number.isMultiple(of: 5) ? SignInWay.qr : .device
            #expect(try await scene.ask(by: way, tricks[number % 6]) != nil)
        }
        for trick in tricks {
            for way in [SignInWay.device, .qr] { #expect(try await scene.ask(by: way, trick) == nil, "\(trick)") }
        }
        #expect(try await scene.ask(by: .email) == nil)
        #expect(try await scene.ask(by: .device, .otherNetwork) != nil)
        scene.shop.world.time.advance(seconds: 60)
        #expect(try await scene.ask(by: .device) != nil)
    }

    @Test("Of many sign-ins that one network begins at once, on two nodes, sixty go on", arguments: Engine.allCases)
    func networkAtOnce(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let begun = try await atOnce(80) { number in
            try await scene.ask(by: .qr, number.isMultiple(of: 2) ? .nothing : .otherNode, in: "\(number)") != nil
        }
        #expect(begun.count { $0 } == 60)
    }

    @Test(
        "Of many changes of a page's language at once, on two nodes, twenty are made", arguments: Engine.allCases)
    func languagesAtOnce(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let asked = try #require(try await scene.ask(by: .device))
        let waits = try await atOnce(30) { number in
            try await ChangePageLanguage.change(
                asked.id, to: "x-\(number)", in: scene.shop.browser,
                ports: scene.ports(number.isMultiple(of: 2) ? .nothing : .otherNode))
        }
        #expect(waits.count { $0 == nil } == 20)
    }

    @Test("A session gives sixty codes a minute, also to requests at once on two nodes")
    func codes() async throws {
        let scene = try await Scene(.chosen)
        let shop = scene.shop
        let session = try #require(try await shop.signedIn().session).secret
        let given = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<80 {
                group.addTask {
                    let ports = number.isMultiple(of: 2) ? shop.world.ports : scene.otherNode.ports
                    let outcome = try await FinishSignIn.goOn(
                        try shop.wanted(), in: session, browser: shop.browser, ports: ports)
                    if case .tooMany = outcome { return false }
                    guard case .finished = outcome else { throw World.Broken("\(outcome)") }
                    return true
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(given == 60)
        // Nor for another client, from another browser.
        for client in [shop.shop.id, scene.otherClient] {
            var wanted = try shop.wanted()
            wanted.client = client
            let outcome = try await FinishSignIn.goOn(
                wanted, in: session, browser: try SignInScene.browser("other"), ports: scene.otherNode.ports)
            #expect(outcome == .tooMany(retryAfter: 60), "\(client)")
        }
    }
}
