import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// What is beyond a limit is refused as an outcome, so that its transaction commits: what the operation wrote before it
// counted stays. Spec: docs/reference/limits.md, *What a refusal leaves*.
@Suite("What is beyond a limit of sign-ins is counted, and does nothing else")
struct SignInRefusalTests {
    private func scene() async throws -> SignInScene {
        let scene = try await SignInScene(.chosen)
        try await scene.set(ways: [.device, .qr, .email])
        return scene
    }

    @Test("A code that is not sent takes nothing back of what the phone was asked before, which it can still approve")
    func earlierAsk() async throws {
        let scene = try await scene()
        for name in ["a", "b", "c", "d", "e"] {
            let outcome = try await scene.ask(try scene.wanted(), by: .email, in: try SignInScene.browser(name))
            guard case .asked = outcome else { throw World.Broken("\(outcome)") }
        }
        let asked = try await scene.asked()
        #expect(try await scene.isPut(asked))
        let refused = try await scene.ask(try scene.wanted(), by: .email, again: asked.id)
        #expect(refused == .tooMany(retryAfter: 3600))
        let id = try #require(asked.ask?.challenge)
        let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
        #expect(challenge.state == .pending)
        guard case .shown(_, .asking) = try await scene.progress(of: asked) else { throw World.Broken("page") }
        try await scene.approve(asked)
        guard case .finished = try await scene.finish(asked) else { throw World.Broken("finish") }
    }

    @Test("Where a way is gone, too, the phone is asked on")
    func earlierAskWithoutWay() async throws {
        let scene = try await scene()
        let asked = try await scene.asked()
        // The client sends no codes to this address, though it sends some.
        try await scene.set(ways: [.device, .qr, .text], callingCodes: [try #require(CallingCode("+49"))])
        #expect(try await scene.ask(try scene.wanted(), by: .text, again: asked.id) == .clientGone)
        try await scene.approve(asked)
        guard case .finished = try await scene.finish(asked) else { throw World.Broken("finish") }
    }

    @Test("What a client may not send does not count against the address, which other clients send to")
    func clientsFirst() async throws {
        let scene = try await scene()
        let other = try await scene.world.makeClient("Other", waives: true).client
        let party = RelyingParty(
            client: other.id, profile: .native, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
            askedBrowsers: .all, ways: [.email])
        #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        var limits = ClientLimits()
        limits.work = .off
        limits.mails = 1
        let ports = scene.world.ports(limits: limits)
        func ask(_ name: String, at client: Client) async throws -> AskSignIn.Outcome {
            let request = AskSignIn.Request(
                CarriedSignIn(wanted: try scene.wanted(name, at: client)), by: .email,
                browser: try SignInScene.browser("other"), place: nil, network: nil)
            return try await AskSignIn.ask(request, ports: ports)
        }
        guard case .asked = try await ask("nobody", at: scene.shop) else { throw World.Broken("the only one") }
        for _ in 0..<5 { #expect(try await ask("customer-1", at: scene.shop) == .tooMany(retryAfter: 3600)) }
        guard case .asked = try await ask("customer-1", at: other) else { throw World.Broken("another client") }
    }

    /// A session that has given as many codes as it may.
    private func usedUp(_ scene: SignInScene) async throws -> Secret<String> {
        let session = try #require(try await scene.signedIn().session).secret
        for number in 0..<60 {
            let outcome = try await FinishSignIn.goOn(
                try scene.wanted(), in: session, browser: scene.browser, ports: scene.world.ports)
            guard case .finished = outcome else { throw World.Broken("\(number): \(outcome)") }
        }
        return session
    }

    @Test("A session that has given too many codes makes its person nobody's user")
    func link() async throws {
        let scene = try await scene()
        let open = try await scene.world.makeClient("Open", waives: true).client
        try await AccountScene.set(open, at: SignInScene.redirectURI, .open, in: scene.world)
        let session = try await usedUp(scene)
        let outcome = try await FinishSignIn.goOn(
            try scene.wanted(nil, at: open), in: session, browser: scene.browser, ports: scene.world.ports)
        #expect(outcome == .tooMany(retryAfter: 60))
        let link = try await scene.world.store.read { try $0.links.find(.id(scene.user), of: open.id) }
        #expect(link == nil)
    }

    @Test("Nor does it note that they have allowed a client something")
    func consent() async throws {
        let scene = try await scene()
        let session = try await usedUp(scene)
        var wanted = try scene.wanted()
        wanted.asksConsent = true
        for _ in 0..<3 {
            let outcome = try await FinishSignIn.goOn(
                wanted, in: session, browser: scene.browser, answer: .allows(scene.user), ports: scene.world.ports)
            #expect(outcome == .tooMany(retryAfter: 60))
        }
        #expect(try await scene.world.store.read { try $0.grants.grants(of: scene.user) }.isEmpty)
        #expect(try await !scene.world.audit().contains { $0.kind == .consentGiven })
    }

    @Test("A refused request has the window end when it did, so that nobody is kept out by being asked for on and on")
    func window() async throws {
        let scene = try await scene()
        let network: [UInt8] = [192, 0, 2, 1]
        for number in 0..<60 {
            guard case .asked = try await scene.ask("nobody-\(number)", network: network) else {
                throw World.Broken("\(number)")
            }
        }
        for left in [60, 40, 20, 1] {
            #expect(try await scene.ask(network: network) == .tooMany(retryAfter: Seconds(Int64(left))))
            scene.world.time.advance(seconds: left == 20 ? 19 : left == 1 ? 1 : 20)
        }
        guard case .asked = try await scene.ask(network: network) else { throw World.Broken("a new window") }
    }

    @Test("Beyond the limits nothing is added but the counts: no sign-in, no message, no question, no event")
    func nothingElse() async throws {
        let scene = try await scene()
        let network: [UInt8] = [192, 0, 2, 1]
        for _ in 0..<60 { _ = try await scene.ask("nobody", network: network) }
        for _ in 0..<5 { _ = try await scene.ask(try scene.wanted(), by: .email) }
        func rows() async throws -> [Int64] {
            var counts: [Int64] = []
            for table in ["authorizations", "outbox", "challenges", "audit", "attempts"] {
                counts.append(try await scene.world.count(table))
            }
            return counts
        }
        let before = try await rows()
        for name in ["customer-1", "nobody-1", "nobody-2"] {
            #expect(try await scene.ask(name, network: network) == .tooMany(retryAfter: 60))
        }
        for number in 0..<3 {
            let browser = try SignInScene.browser("\(number)")
            let outcome = try await scene.ask(try scene.wanted(), by: .email, in: browser)
            #expect(outcome == .tooMany(retryAfter: 3600))
        }
        #expect(try await rows() == before)
    }
}
