import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Each limit on sign-ins is used up in the plain way, and then somebody tries to get round it in every way there is.
// Spec: docs/security/threat-model.md, *Guessing*.
@Suite("Ways round the limits of sign-ins")
struct SignInLimitsTests {
    /// What somebody changes about a request to have it counted apart.
    enum Trick: CaseIterable {
        case nothing, otherBrowser, otherClient, otherSpelling, otherNetwork, otherNode
    }

    private struct Scene: Sendable {
        let shop: SignInScene
        let otherClient: ClientID
        let otherNode: World

        init(_ engine: Engine) async throws {
            shop = try await SignInScene(engine)
            try await shop.set(ways: [.device, .qr, .email])
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

        /// Asks as the plain request does, but for a trick; nil if there were too many.
        func ask(
            by way: SignInWay, _ trick: Trick = .nothing, in browser: String? = nil
        ) async throws -> Authorization? {
            var wanted = try shop.wanted()
            if trick == .otherClient { wanted.client = otherClient }
            if trick == .otherSpelling {
                wanted.identifier = .address(.email(try #require(EmailAddress("Customer-1+x@EXAMPLE.com"))))
            }
            let request = AskSignIn.Request(
                CarriedSignIn(wanted: wanted), by: way,
                browser: trick == .otherBrowser || browser != nil
                    ? try SignInScene.browser(browser ?? "other") : shop.browser,
                place: ContextLine(address: trick == .otherNetwork ? "198.51.100.7" : "192.0.2.1", userAgent: nil),
                network: trick == .otherNetwork ? [198, 51, 100, 7] : [192, 0, 2, 1])
            let ports = trick == .otherNode ? otherNode.ports : shop.world.ports
            let outcome = try await AskSignIn.ask(request, ports: ports)
            if case .tooMany = outcome { return nil }
            guard case .asked(let asked) = outcome else { throw World.Broken("\(outcome)") }
            if let challenge = asked.ask?.challenge, way == .device {
                try await PutSignIn.put(asked.id, by: challenge, ports: ports)
            }
            return asked
        }

        /// Whether the person's devices are asked, after all that was asked before is over.
        func isAsked(_ trick: Trick) async throws -> Bool {
            shop.world.time.advance(seconds: 121)
            return try await shop.isPut(try #require(try await ask(by: .device, trick)))
        }
    }

    @Test(
        "Unknown browsers together have a person's devices asked three times an hour, whatever they change",
        arguments: Engine.allCases)
    func asks(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        for trick in [Trick.nothing, .otherBrowser, .otherNode] { #expect(try await scene.isAsked(trick)) }
        // Another spelling finds nobody: a name with a tag is another mailbox.
        for trick in Trick.allCases { #expect(try await !scene.isAsked(trick), "\(trick)") }
    }

    @Test("Of many asks at once, on two nodes, the person's devices get one", arguments: Engine.allCases)
    func asksAtOnce(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let put = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let asked = try await scene.ask(
                        by: .device, number.isMultiple(of: 2) ? .nothing : .otherNode, in: "\(number)")
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
        for trick in [Trick.nothing, .otherBrowser, .otherClient, .otherNode, .otherSpelling] {
            #expect(try await scene.ask(by: .email, trick) != nil, "\(trick)")
        }
        for trick in Trick.allCases { #expect(try await scene.ask(by: .email, trick) == nil, "\(trick)") }
        scene.shop.world.time.advance(seconds: 3599)
        for trick in Trick.allCases { #expect(try await scene.ask(by: .email, trick) == nil, "\(trick)") }
        scene.shop.world.time.advance(seconds: 1)
        #expect(try await scene.ask(by: .email) != nil)
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

    @Test("Sixty sign-ins a minute begin from one network, on two nodes and by every client and name together")
    func network() async throws {
        let scene = try await Scene(.sqlite)
        let tricks = [Trick.nothing, .otherBrowser, .otherClient, .otherNode, .otherSpelling]
        for number in 0..<60 { #expect(try await scene.ask(by: .device, tricks[number % 5]) != nil) }
        for trick in tricks { #expect(try await scene.ask(by: .device, trick) == nil, "\(trick)") }
        #expect(try await scene.ask(by: .device, .otherNetwork) != nil)
        scene.shop.world.time.advance(seconds: 60)
        #expect(try await scene.ask(by: .device) != nil)
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
    }
}
