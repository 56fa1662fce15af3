import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import RelyingPartyAPI
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Only a browser that the user has approved something from reaches their devices")
struct KnownBrowserTests {
    private static let browser = "3f1c9a04-7c55-4be1"

    private struct Scene: Sendable {
        let world: World
        let shop: Client
        let user: UserID
        let device: TestDevice

        init(_ engine: Engine = .sqlite) async throws {
            world = try await World(engine)
            try await world.makeType("scan", numberEntry: false, channel: .code)
            shop = try await world.makeClient(waives: true).client
            user = try await world.makeUser("customer-1", of: shop)
            device = try await world.makeDevice(of: user, by: shop)
            let login = try ChallengeType(
                ["unknown_browser": "scan", "max_pending": 1, "max_asks": 1, "number_entry": false],
                name: try #require(TypeName("login")))
            try await SetType.set(login, by: shop.actor, ports: world.ports)
        }

        func ask(
            _ browser: String?, by client: Client? = nil
        ) async throws -> AskChallenge.Outcome {
            var request = try world.request(for: user, type: "login")
            request.browser = browser.flatMap { BrowserID($0) }
            let result = try await AskChallenge.ask(
                request, by: (client ?? shop).credential, idempotency: nil, ports: world.ports
            )
            guard case .done(let outcome) = result else { throw World.Broken("ask") }
            return outcome
        }

        /// The user scans the code, and decides.
        func scan(_ asked: AskedChallenge, _ decision: Decision) async throws {
            let code = try #require(asked.code).code
            _ = try await ClaimChallenge.claim(code, by: try await device.call(), ports: world.ports)
            try await answer(asked, decision)
        }

        func answer(_ asked: AskedChallenge, _ decision: Decision) async throws {
            try await device.open(asked.challenge.id)
            let kept = try await world.store.read { try $0.challenges.find(asked.challenge.id) }
            let receipt = try await device.receipt(of: try #require(kept), decision)
            _ = try await device.answer(asked.challenge.id, with: receipt)
        }
    }

    @Test("From another one a code is shown, which this user alone can claim; then the browser is known")
    func learned() async throws {
        let scene = try await Scene()
        let first = try await scene.ask(Self.browser).get()
        #expect("\(first.challenge.type)" == "scan" && first.enrollments.isEmpty && first.code != nil)
        let stranger = try await scene.world.makeDevice(
            of: try await scene.world.makeUser(of: scene.shop), by: scene.shop)
        let claimed = try await ClaimChallenge.claim(
            try #require(first.code).code, by: try await stranger.call(), ports: scene.world.ports)
        #expect(claimed.summary == "code invalid")
        try await scene.scan(first, .approved(.confirm, number: nil))
        let second = try await scene.ask(Self.browser).get()
        #expect("\(second.challenge.type)" == "login" && second.enrollments == [scene.device.enrollment])
        // Neither another browser, nor none, nor the same one at another client.
        for browser in [nil, "another browser's".replacing(" ", with: "-")] {
            #expect("\(try await scene.ask(browser).get().challenge.type)" == "scan")
        }
        let elsewhere = try await scene.world.makeClient("Elsewhere").client
        let linked = try await scene.world.store.commit {
            try $0.links.put(scene.user, to: elsewhere.id, externalID: nil)
        }
        #expect(linked)
        #expect("\(try await scene.ask(Self.browser, by: elsewhere).get().challenge.type)" == "scan")
    }

    @Test("A no teaches nothing, and a report forgets the browser", arguments: [Decision.denied, .reported])
    func unlearned(_ decision: Decision) async throws {
        let scene = try await Scene()
        try await scene.scan(try await scene.ask(Self.browser).get(), decision)
        #expect(try await scene.world.count("known_browsers") == 0)
        try await scene.scan(try await scene.ask(Self.browser).get(), .approved(.confirm, number: nil))
        #expect(try await scene.world.count("known_browsers") == 1)
        if decision == .denied {
            try await scene.answer(try await scene.ask(Self.browser).get(), decision)
            #expect(try await scene.world.count("known_browsers") == 1, "the user may have changed their mind")
        } else {
            try await scene.scan(try await scene.ask("another-browser-1").get(), decision)
            #expect(try await scene.world.count("known_browsers") == 1, "the one that was reported, and no other")
        }
    }

    @Test("What whoever scans a code approves teaches no browser: it may have been shown to them by somebody else")
    func anybody() async throws {
        let scene = try await Scene()
        var request = try scene.world.request(for: nil, type: "scan")
        request.browser = BrowserID(Self.browser)
        try await scene.scan(try await scene.world.ask(request, by: scene.shop), .approved(.confirm, number: nil))
        #expect(try await scene.world.count("known_browsers") == 0)
    }

    @Test("Nobody who does not have the browser uses up what a user may be asked")
    func limits() async throws {
        let scene = try await Scene()
        try await scene.scan(try await scene.ask(Self.browser).get(), .approved(.confirm, number: nil))
        for _ in 1...5 { _ = try await scene.ask("another-browser-1").get() }
        #expect("\(try await scene.ask(Self.browser).get().challenge.type)" == "login")
    }

    @Test("Where the other type is not there, or has no code, nobody is asked")
    func missing() async throws {
        let scene = try await Scene()
        for other in ["nowhere", "confirm"] {
            let login = try ChallengeType(
                ["unknown_browser": .string(other)], name: try #require(TypeName("login")))
            try await SetType.set(login, by: scene.shop.actor, ports: scene.world.ports)
            await #expect(throws: AskChallenge.Refusal.notAllowedByType(.browser)) {
                try await scene.ask(Self.browser).get()
            }
        }
    }

    @Test("It is remembered for 400 days after the last approval, under a hash that a copied database cannot look up")
    func kept() async throws {
        let scene = try await Scene()
        try await scene.scan(try await scene.ask(Self.browser).get(), .approved(.confirm, number: nil))
        let hash = scene.world.ports.hasher.hash(of: try #require(BrowserID(Self.browser)), client: scene.shop.id)
        let isKnown = try await scene.world.store.read {
            try $0.browsers.isKnown(hash, of: scene.user, by: scene.shop.id)
        }
        #expect(isKnown)
        for (days, count) in [(399, 1), (2, 0)] as [(Int64, Int)] {
            scene.world.time.advance(seconds: days * 86_400)
            let now = scene.world.time.now
            _ = try await scene.world.store.commit { try $0.retention.sweep(now: now, limit: 100) }
            #expect(try await scene.world.count("known_browsers") == count)
        }
    }

    @Test("16 to 128 visible ASCII characters name a browser")
    func names() {
        for text in ["", "fifteen-letters", "sixteen letters!", "sechzehn-zeichäh", String(repeating: "a", count: 129)]
        {
            #expect(BrowserID(text) == nil, "\(text)")
        }
        for text in ["sixteen-letters!", String(repeating: "~", count: 128)] { #expect(BrowserID(text) != nil) }
    }
}
