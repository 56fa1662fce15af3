import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Synchronization
import TestSupport
import Testing

@testable import CountersignCore

/// Lets the next commit of an engine fail, as a crash would.
private final class FailingCommit: Sendable {
    private let isArmed = Mutex(false)

    func arm() { isArmed.withLock { $0 = true } }

    func run() throws {
        let fails = isArmed.withLock { isArmed in
            defer { isArmed = false }
            return isArmed
        }
        if fails { throw StoreError.unavailable }
    }
}

@Suite("What comes in between at the provider, on whatever node")
struct ProviderOrdersTests {
    // Spec: RFC 9449 §11.1.
    @Test("A commit that fails spends neither the proof nor what it was for; after a lost reply a new proof is needed")
    func lostReply() async throws {
        let failing = FailingCommit()
        let world = try await World(.chosen, in: try TemporaryFolder(), time: ScriptedTime(), seed: 1) { engine in
            RecordingEngine(engine, beforeCommit: { _ in try failing.run() })
        }
        let scene = try await SignInScene(in: world)
        let prover = Prover(world)
        let session = try #require(try await scene.signedIn().session).secret
        var wanted = try scene.wanted()
        wanted.scopes.append(TokenFamily.offlineAccess)
        guard
            case .finished(let finished) = try await FinishSignIn.goOn(
                wanted, in: session, browser: scene.browser, ports: world.ports)
        else { throw World.Broken("code") }
        let request = RedeemCode.Request(
            code: finished.code, redirectURI: SignInScene.redirectURI, verifier: Secret(SignInScene.verifier),
            key: try await prover.proved())
        func redeem() async throws -> RedeemCode.Outcome {
            try await RedeemCode.redeem(request, by: scene.shop.id, ports: world.ports)
        }
        failing.arm()
        await #expect(throws: StoreError.unavailable) { try await redeem() }
        guard case .redeemed(let given) = try await redeem() else { throw World.Broken("redeem") }
        let token = try #require(try await SignTokens.sign(given, ports: world.ports).refresh)
        func refresh(_ key: ProvedKey) async throws -> RefreshTokens.Outcome {
            try await RefreshTokens.refresh(token, scopes: nil, by: scene.shop.id, with: key, ports: world.ports)
        }
        let key = try await prover.proved()
        failing.arm()
        await #expect(throws: StoreError.unavailable) { try await refresh(key) }
        guard case .refreshed = try await refresh(key) else { throw World.Broken("refresh") }
        // As if the reply was lost.
        #expect(try await refresh(key) == .unproved(.replayed))
        guard case .refreshed = try await refresh(try await prover.proved()) else { throw World.Broken("again") }
    }

    // Spec: RFC 7662 §2.2.
    @Test("A device that is suspended between two reads of an introspection makes its token inactive")
    func suspendedMeanwhile() async throws {
        let scene = try await ResourceTests.Scene()
        let (world, shop) = (scene.world, scene.shop)
        // A suspension ends the session and its tokens: each time the person signs in anew.
        func isActive(
            _ before: @escaping @Sendable (Int) async throws -> Void
        ) async throws -> (isActive: Bool, reads: Int) {
            let code = try await scene.code(["openid", "read"], at: [ResourceTests.orders])
            let token = try await scene.tokens(code, for: []).access
            let store = ActingStore(world.store, before: before)
            let ports = world.ports(on: store, loggingTo: world.ports.logger)
            let outcome = try await IntrospectToken.introspect(token, by: scene.orders.id, ports: ports)
            guard case .access = outcome else { return (false, store.reads) }
            return (true, store.reads)
        }
        let usual = try await isActive { _ in }
        #expect(usual.isActive && usual.reads == 2)
        for place in 1...2 {
            let met = try await isActive { number in if number == place { try await shop.suspend(true) } }
            #expect(!met.isActive, "\(place)")
            try await shop.suspend(false)
        }
    }

    @Test("Of two operators one makes a client strict and the other sets it back: no good question is cancelled")
    func setBack() async throws {
        let scene = try await SignInScene(profile: .web)
        let (world, id) = (scene.world, scene.shop.id)
        let uris = [try #require(RedirectURI(SignInScene.redirectURI))]
        let usual = RelyingParty(client: id, profile: .web, redirectURIs: uris, askedBrowsers: .all)
        let strict = RelyingParty(
            client: id, profile: .strict, redirectURIs: uris, askedBrowsers: .all,
            keySet: JWKSet([JWK(P256.Signing.PrivateKey().publicKey)]).json)
        let asked = try await scene.asked()
        // The first read is that of the keys, and the second that of the open questions.
        let store = ActingStore(world.store) { number in
            guard number == 2 else { return }
            let outcome = try? await SetRelyingParty.set(usual, by: .system, ports: world.ports)
            #expect(outcome == .set(usual))
        }
        let ports = world.ports(on: store, loggingTo: world.ports.logger)
        #expect(try await SetRelyingParty.set(strict, by: .system, ports: ports) == .set(strict))
        #expect(store.reads == 2)
        try await scene.approve(asked)
        guard case .finished = try await scene.finish(asked) else { throw World.Broken("finish") }
    }

    // Spec: OpenID Connect Core 1.0 §3.1.2.1.
    @Test("An approval in the last second counts at a node whose wait has ended, and not for longer than max_age")
    func lastSecond() async throws {
        for late in [Int64(59), 60] {
            let scene = try await SignInScene(.chosen)
            let time = scene.world.time
            let node = try await scene.world.reopened()
            try await node.store.refreshKeys()
            var wanted = try scene.wanted()
            wanted.maximumAge = 0
            guard case .asked(let asked) = try await scene.ask(wanted, by: .device) else { throw World.Broken("ask") }
            func progress() async throws -> WatchAuthorization.Progress {
                let outcome = try await WatchAuthorization.show(
                    asked.id, in: scene.browser, isScanned: false, waitingUntil: time.now, changes: node.hub,
                    ports: node.ports)
                guard case .shown(_, let progress) = outcome else { throw World.Broken("\(outcome)") }
                return progress
            }
            let ask = try #require(asked.ask)
            let number = try #require(ask.number)
            time.set(ask.until.adding(seconds: -1))
            #expect(try await progress() == .asking(number, until: ask.until))
            try await scene.approve(asked)
            time.advance(seconds: 1)
            #expect(try await progress() == .authenticated)
            #expect(try await scene.ask(wanted, by: .device, again: asked.id) == .tooLate)
            time.advance(seconds: late)
            let finish = try await FinishSignIn.finish(asked.id, in: scene.browser, former: nil, ports: node.ports)
            switch finish {
            case .finished: #expect(late == 59)
            case let outcome: #expect(outcome == .notReady && late == 60)
            }
        }
    }

    // Spec: OpenID Connect Core 1.0 §2.
    @Test("amr and acr say by what somebody was authenticated, also where that PIN is removed before there are tokens")
    func removedPIN() async throws {
        let scene = try await SignInScene()
        try await scene.set(stepUpTypes: [.pin])
        let pin = try await scene.device.setPIN()
        var wanted = try scene.wanted()
        (wanted.strength, wanted.isStrengthEssential) = (.twoFactors, true)
        guard case .asked(let asked) = try await scene.ask(wanted, by: .device) else { throw World.Broken("ask") }
        _ = try await scene.answer(asked, by: pin) { .approved(.pin, number: $0) }
        #expect(try await PINChange(of: scene.device, from: pin, to: nil).send().summary == "changed")
        guard case .finished(let finished) = try await scene.finish(asked),
            case .redeemed(let given) = try await scene.redeem(finished.code)
        else { throw World.Broken("finish") }
        #expect(given.family.authentication.strength == .twoFactors)
        #expect(given.family.authentication.methods == ["swk", "user", "mca", "pin", "mfa"])
        // Nobody can be as strongly authenticated again.
        scene.world.time.advance(seconds: 121)
        guard case .asked(let next) = try await scene.ask(wanted, by: .device) else { throw World.Broken("next") }
        #expect(try await !scene.isPut(next))
    }

    // Spec: RFC 9700 §4.14.2; RFC 7009 §2.
    @Test("One refresh token at once on two nodes has one successor, and none after its end", arguments: 0..<3)
    func refreshes(_ round: Int) async throws {
        let scene = try await SignInScene(.chosen)
        let node = try await scene.world.reopened()
        try await node.store.refreshKeys()
        @Sendable func refresh(_ token: Secret<String>, at ports: Ports) async throws -> RefreshTokens.Outcome {
            try await RefreshTokens.refresh(token, scopes: nil, by: scene.shop.id, ports: ports)
        }
        let first = try #require(try await scene.offline().tokens.refresh)
        let outcomes = try await atOnce(8) { number in
            try await refresh(first, at: number.isMultiple(of: 2) ? scene.world.ports : node.ports)
        }
        let given = outcomes.compactMap { outcome -> UnsignedTokens? in
            if case .refreshed(let given) = outcome { given } else { nil }
        }
        #expect(given.count == 8 && given.allSatisfy { $0.family.generation == 1 }, "\(outcomes)")
        let renewed = try await SignTokens.sign(try #require(given.first), ports: scene.world.ports)
        let second = try #require(renewed.refresh)
        async let refreshed = refresh(second, at: scene.world.ports)
        async let revoked = RevokeToken.revoke(second, by: scene.shop.id, ports: node.ports)
        let (last, end) = try await (refreshed, revoked)
        #expect(end == .revoked)
        if case .refreshed(let given) = last {
            let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
            #expect(try await !scene.isGood(tokens))
            let third = try #require(tokens.refresh)
            #expect(try await refresh(third, at: node.ports) == .invalid)
        } else {
            #expect(last == .invalid)
        }
        for token in [first, second] {
            for ports in [scene.world.ports, node.ports] { #expect(try await refresh(token, at: ports) == .invalid) }
        }
    }
}
