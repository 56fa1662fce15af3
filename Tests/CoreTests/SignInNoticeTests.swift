import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: OWASP ASVS 6.3.5.
@Suite("A person is told of sign-ins that may be somebody else's")
struct SignInNoticeTests {
    private static let number = "+4915112345678"

    /// Who was told of sign-ins since the last look, and why.
    private func told(_ world: World, _ kind: OutboxMessage.Kind = .mail) async throws -> [String] {
        let now = world.time.now
        let leased = try await world.store.lease(kind, limit: 100, now: now, until: now.adding(.days(30)))
        return leased.compactMap { leased -> String? in
            guard case .personal(let told, let address, _) = leased.message.content, told.template == .signedIn else {
                return nil
            }
            let why = PersonalMessage.SignInNotice.allCases.filter { told.values[$0.rawValue] != nil }
            return "\(address): \(why.map(\.rawValue).joined(separator: " "))"
        }.sorted()
    }

    /// A person with two mail addresses, who has signed in by the first of them alone.
    private func scene(_ engine: Engine = .sqlite) async throws -> AccountScene {
        let scene = try await AccountScene(engine)
        try await scene.add("second", by: try await scene.byMail())
        #expect(try await told(scene.world).isEmpty, "whoever has one address has had the code there")
        return scene
    }

    @Test(
        "A sign-in from a new browser is told to all addresses, but to the one that had the code; from a known one, to none",
        arguments: Engine.allCases)
    func newBrowser(_ engine: Engine) async throws {
        let scene = try await scene(engine)
        _ = try await scene.byMail()
        #expect(try await told(scene.world) == ["second@example.com: elsewhere"])
        _ = try await scene.byTap()
        let all = ["customer-1@example.com: elsewhere", "second@example.com: elsewhere"]
        #expect(try await told(scene.world) == all)
        // The browser is theirs from now on, by whichever way they sign in.
        _ = try await scene.byTap()
        _ = try await scene.byMail()
        #expect(try await told(scene.world).isEmpty)
    }

    @Test("Whoever signs in anew in their session is told nothing")
    func renewed() async throws {
        let scene = try await scene()
        scene.world.time.advance(seconds: 3600)
        let browser = try SignInScene.browser("two")
        func signIn(_ former: Secret<String>?) async throws -> Secret<String> {
            scene.world.time.advance(seconds: 60)
            let wanted = try scene.shop.wanted()
            guard case .asked(let asked) = try await scene.shop.ask(wanted, by: .email, in: browser) else {
                throw World.Broken("asked")
            }
            let code = try #require(try await scene.shop.sent(for: asked))
            #expect(try await scene.shop.enter(code, for: asked, in: browser) == .authenticated)
            guard case .finished(let finished) = try await scene.shop.finish(asked, in: browser, former: former) else {
                throw World.Broken("finish")
            }
            return try #require(finished.session).secret
        }
        let session = try await signIn(nil)
        #expect(try await told(scene.world).count == 1)
        _ = try await signIn(session)
        #expect(try await told(scene.world).isEmpty)
    }

    @Test("A message names the client, the place, the time and the account page")
    func content() async throws {
        let scene = try await scene()
        _ = try await scene.byTap()
        let now = scene.world.time.now
        let leased = try await scene.world.store.lease(.mail, limit: 100, now: now, until: now)
        let messages = leased.compactMap { leased -> PersonalMessage? in
            guard case .personal(let told, _, scene.shop.shop.id) = leased.message.content else { return nil }
            return told
        }
        let values = try #require(messages.first { $0.template == .signedIn }).values.mapValues { $0.reveal() }
        #expect(values["sender"] == scene.shop.shop.name.text && values["place"] == "192.0.2.1")
        #expect(values["page"] == scene.world.ports.issuer.accountPage && values["time"]?.hasSuffix(" UTC") == true)
    }

    @Test("A text message tells of what a device has approved, and of no code")
    func texts() async throws {
        let scene = try await scene()
        let phone = PersonalAddress.phone(try #require(PhoneNumber(Self.number)))
        try await scene.shop.set(
            ways: [.device, .email, .text], registration: .open, callingCodes: [try #require(CallingCode("+49"))])
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { [user = scene.user] work in
            _ = try work.verify(phone, of: user)
        }
        _ = try await scene.byMail()
        #expect(try await told(scene.world, .text).isEmpty)
        _ = try await scene.byTap()
        #expect(try await told(scene.world, .text) == ["\(Self.number): elsewhere"])
    }

    @Test("Whoever signs in on and on has ten messages sent in a day, and not more")
    func limit() async throws {
        let scene = try await scene()
        for _ in 0..<12 {
            scene.world.time.advance(seconds: 1800)
            _ = try await scene.byMail()
        }
        #expect(try await told(scene.world).count == 10)
        scene.world.time.advance(.days(1))
        _ = try await scene.byMail()
        #expect(try await told(scene.world).count == 1)
    }

    /// A sign-in by a code that was sent to an address, in a browser of its own.
    private static func authenticated(
        _ name: String, at client: Client, in browser: String, _ scene: AccountScene
    ) async throws -> Authorization {
        let browser = try SignInScene.browser(browser)
        let wanted = try scene.shop.wanted(name, at: client)
        guard case .asked(let asked) = try await scene.shop.ask(wanted, by: .email, in: browser) else {
            throw World.Broken("asked")
        }
        let code = try #require(try await scene.shop.sent(for: asked))
        #expect(try await scene.shop.enter(code, for: asked, in: browser) == .authenticated)
        return asked
    }

    /// Finishes it on a node; the person allows the client what it wants.
    private static func finish(_ asked: Authorization, in browser: String, on ports: Ports) async throws {
        let browser = try SignInScene.browser(browser)
        var outcome = try await FinishSignIn.finish(asked.id, in: browser, former: nil, ports: ports)
        if case .asks(let question) = outcome {
            outcome = try await FinishSignIn.finish(
                asked.id, in: browser, former: nil, answer: .allows(question.user), ports: ports)
        }
        guard case .finished = outcome else { throw World.Broken("\(outcome)") }
    }

    private static func nodes(_ world: World) async throws -> [Ports] {
        let other = try await world.reopened()
        try await other.store.refreshKeys()
        return [world.ports, other.ports]
    }

    @Test("Neither another address, spelling, client, way, browser nor node has a person told of an eleventh sign-in")
    func limitElsewhere() async throws {
        let scene = try await scene(.chosen)
        let nodes = try await Self.nodes(scene.world)
        let names = ["customer-1", "second", "Customer-1", "SECOND"]
        for number in 0..<12 {
            scene.world.time.advance(seconds: 1800)
            let client = number.isMultiple(of: 3) ? scene.third : scene.shop.shop
            let asked = try await Self.authenticated(names[number % 4], at: client, in: "\(number)", scene)
            try await Self.finish(asked, in: "\(number)", on: nodes[number / 2 % 2])
        }
        #expect(try await told(scene.world).count == 10)
        _ = try await scene.byTap()
        #expect(try await told(scene.world).isEmpty)
        scene.world.time.advance(.days(1))
        let asked = try await Self.authenticated("customer-1", at: scene.shop.shop, in: "last", scene)
        try await Self.finish(asked, in: "last", on: nodes[1])
        #expect(try await told(scene.world) == ["second@example.com: elsewhere"])
    }

    @Test("Of many sign-ins that end at once, on two nodes, a person is told of ten", arguments: Engine.allCases)
    func limitAtOnce(_ engine: Engine) async throws {
        let scene = try await scene(engine)
        let nodes = try await Self.nodes(scene.world)
        scene.world.time.advance(seconds: 3600)
        // Two mailboxes get five codes each; so four of the ten are counted before.
        try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { [user = scene.user] work in
            for _ in 0..<4 { _ = try work.count(.signInNotices(to: user)) }
        }
        var asked: [Authorization] = []
        for number in 0..<10 {
            let name = number.isMultiple(of: 2) ? "customer-1" : "second"
            asked.append(try await Self.authenticated(name, at: scene.shop.shop, in: "\(number)", scene))
        }
        _ = try await atOnce(10) { [asked] number in
            try await Self.finish(asked[number], in: "\(number)", on: nodes[number / 2 % 2])
        }
        #expect(try await told(scene.world).count == 6)
    }

    @Test("After as many wrong codes as one has tries, the address is told that a right one has come")
    func wrongCodes() async throws {
        let scene = try await SignInScene(.chosen)
        try await scene.set(ways: [.email])
        let turns: [(Int, [String])] = [(4, []), (5, ["customer-1@example.com: guessed"]), (0, [])]
        for (wrong, expected) in turns {
            scene.world.time.advance(seconds: 3600)
            let guessed = try await scene.askedByMail("customer-1")
            let right = try #require(try await scene.sent(for: guessed))
            let other = EntryNumber(value: (try #require(UInt32(right.digits)) + 1) % 1_000_000)
            for _ in 0..<wrong { _ = try await scene.enter(other, for: guessed) }
            #expect(try await told(scene.world).isEmpty, "a wrong code costs the same, whoever is named")
            _ = try await scene.signedInByMail("customer-1", at: scene.shop)
            #expect(try await told(scene.world) == expected, "\(wrong) wrong codes")
        }
    }

    @Test("By a link after as many wrong codes, too, and not after fewer", arguments: [4, 5])
    func wrongCodesBeforeLink(_ wrong: Int) async throws {
        let scene = try await SignInScene(.chosen)
        try await scene.set(ways: [.email])
        let asked = try await scene.askedByMail("customer-1")
        let right = try #require(try await scene.sent(for: asked))
        let other = EntryNumber(value: (try #require(UInt32(right.digits)) + 1) % 1_000_000)
        for _ in 0..<wrong { _ = try await scene.enter(other, for: asked) }
        scene.world.time.advance(seconds: 60)
        let again = try await scene.askedByMail("customer-1")
        let sent = try #require(again.ask?.verification)
        let link = EnterSignInCode.Proof.link(scene.world.ports.hasher.link(of: sent))
        #expect(
            try await EnterSignInCode.enter(link, for: again.id, in: scene.browser, ports: scene.world.ports)
                == .authenticated)
        #expect(try await told(scene.world) == (wrong < 5 ? [] : ["customer-1@example.com: guessed"]))
    }
}
