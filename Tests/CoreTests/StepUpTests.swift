import CountersignStorage
import CountersignWire
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: OpenID Connect Core 1.0 §3.1.2.1, §5.5.1.1.
@Suite("How strong a client wants a sign-in chooses the type by which devices are asked")
struct StepUpTests {
    private func wanted(
        _ strength: Authentication.Strength, isEssential: Bool, _ scene: SignInScene
    ) throws -> Wanted {
        var wanted = try scene.wanted()
        (wanted.strength, wanted.isStrengthEssential) = (strength, isEssential)
        return wanted
    }

    private func asked(_ wanted: Wanted, _ scene: SignInScene) async throws -> Authorization {
        guard case .asked(let asked) = try await scene.ask(wanted, by: .device) else { throw World.Broken("ask") }
        return asked
    }

    /// The challenge of an ask; nil if no device is asked.
    private func challenge(of asked: Authorization, _ scene: SignInScene) async throws -> Challenge? {
        let id = try #require(asked.ask?.challenge)
        return try await scene.world.store.read { try $0.challenges.find(id) }
    }

    @Test("By the first of its types that is strong enough, and by no weaker method of it", arguments: Engine.allCases)
    func chosen(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let both = try #require(TypeName("both"))
        try await scene.world.store.commit { store in
            try store.types.put(ChallengeType(name: both, methods: [.confirm, .pin]))
        }
        try await scene.set(stepUpTypes: [both, .pin])
        let pin = try await scene.device.setPIN()
        let usual = try await asked(try scene.wanted(), scene)
        #expect(try await challenge(of: usual, scene)?.question.type == .confirm)
        for isEssential in [false, true] {
            scene.world.time.advance(seconds: 121)
            let asked = try await asked(try wanted(.twoFactors, isEssential: isEssential, scene), scene)
            let challenge = try #require(try await challenge(of: asked, scene))
            #expect(challenge.question.type == both && challenge.methods == [.pin])
            #expect(try await scene.answer(asked) { .approved(.confirm, number: $0) }.summary == "invalid")
            _ = try await scene.answer(asked, by: pin) { .approved(.pin, number: $0) }
            guard case .finished(let finished) = try await scene.finish(asked),
                case .redeemed(let given) = try await scene.redeem(finished.code)
            else { throw World.Broken("finish") }
            #expect(given.family.authentication.strength == .twoFactors)
        }
    }

    @Test("Where a client has codes alone, what it would only like keeps nobody out", arguments: [false, true])
    func likedOfCodes(_ isEssential: Bool) async throws {
        let scene = try await SignInScene()
        try await scene.set(ways: [.email])
        for strength in [Authentication.Strength.device, .phishingResistant] {
            let ways = try await OfferWays.ways(
                for: try wanted(strength, isEssential: isEssential, scene), in: scene.browser, ports: scene.world.ports)
            #expect(ways == .ways(isEssential ? [] : [.email]))
        }
        // Nor is anybody asked again who is signed in.
        let session = try #require(try await scene.signedInByMail("customer-1", at: scene.shop).finished.session)
        let outcome = try await FinishSignIn.goOn(
            try wanted(.device, isEssential: isEssential, scene), in: session.secret, browser: scene.browser,
            ports: scene.world.ports)
        if case .finished = outcome { #expect(!isEssential) } else { #expect(isEssential && outcome == .notReady) }
    }

    @Test("What was asked before its type was labelled AAL2 is worth what it was asked for")
    func labelledMeanwhile() async throws {
        let scene = try await SignInScene()
        let pin = try await scene.device.setPIN()
        for method in [AnswerMethod.confirm, .pin] {
            let usual = ChallengeType(name: .confirm, methods: [.confirm, .pin])
            #expect(try await SetType.set(usual, by: .system, ports: scene.world.ports) == .set)
            let asked = try await asked(try scene.wanted(), scene)
            let labelled = ChallengeType(name: .confirm, methods: [.pin], isAAL2: true)
            #expect(try await SetType.set(labelled, by: .system, ports: scene.world.ports) == .set)
            _ = try await scene.answer(asked, by: method == .pin ? pin : nil) { .approved(method, number: $0) }
            guard case .finished(let finished) = try await scene.finish(asked),
                case .redeemed(let given) = try await scene.redeem(finished.code)
            else { throw World.Broken("finish") }
            // The device has its keys in software.
            #expect(given.family.authentication.strength == (method == .pin ? .twoFactors : .device))
            scene.world.time.advance(seconds: 121)
        }
    }

    @Test("What is only liked keeps nobody out: who has no PIN is asked by the usual type")
    func liked() async throws {
        let scene = try await SignInScene()
        try await scene.set(stepUpTypes: [.pin])
        let liked = try await asked(try wanted(.twoFactors, isEssential: false, scene), scene)
        #expect(try await challenge(of: liked, scene)?.question.type == .confirm)
        try await scene.approve(liked)
        guard case .finished = try await scene.finish(liked) else { throw World.Broken("finish") }
        scene.world.time.advance(seconds: 121)
        let needed = try await asked(try wanted(.twoFactors, isEssential: true, scene), scene)
        #expect(needed.ask?.number != nil, "the page is the same for everybody")
        #expect(try await challenge(of: needed, scene) == nil)
    }

    @Test("A client that nobody can sign in to so strongly offers no way, and says so at once")
    func unreachable() async throws {
        let scene = try await SignInScene()
        func reaches(_ strength: Authentication.Strength, isEssential: Bool = true) async throws -> Bool {
            let party = try #require(try await scene.world.store.read { try $0.relyingParties.find(scene.shop.id) })
            return try await OfferWays.canReach(
                try wanted(strength, isEssential: isEssential, scene), at: party, ports: scene.world.ports)
        }
        func ways() async throws -> OfferWays.Outcome {
            try await OfferWays.ways(
                for: try wanted(.twoFactors, isEssential: true, scene), in: scene.browser, ports: scene.world.ports)
        }
        #expect(try await reaches(.device))
        #expect(try await reaches(.address))
        #expect(try await reaches(.phishingResistant, isEssential: false))
        #expect(try await !reaches(.twoFactors))
        #expect(try await !reaches(.phishingResistant))
        #expect(try await ways() == .ways([]))
        try await scene.set(stepUpTypes: [.pin])
        #expect(try await reaches(.twoFactors))
        #expect(try await !reaches(.aal2))
        #expect(try await ways() == .ways([.device]), "a code that is scanned is approved by a tap")
        try await scene.set(ways: [.qr], stepUpTypes: [.pin])
        #expect(try await !reaches(.twoFactors))
        try await scene.set(ways: [.email])
        #expect(try await reaches(.address))
        #expect(try await !reaches(.device))
        // A passkey is more than all of these, where the issuer's host is a name.
        try await scene.set(ways: [.passkey])
        #expect(try await reaches(.phishingResistant) == scene.world.ports.issuer.hasPasskeys)
        #expect(try await reaches(.twoFactors) == scene.world.ports.issuer.hasPasskeys)
    }

    @Test(
        "Settings whose every way has people copy digits are refused; those that were set before stay",
        arguments: [[.device], [.text], [.device, .text]] as [Set<SignInWay>])
    func onlyCopies(_ ways: Set<SignInWay>) async throws {
        let scene = try await SignInScene()
        let party = RelyingParty(
            client: scene.shop.id, profile: .native,
            redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], ways: ways,
            callingCodes: [try #require(CallingCode("+49"))])
        let ports = scene.world.ports
        #expect(try await SetRelyingParty.set(party, by: .system, ports: ports) == .onlyCopies)
        try await scene.world.store.commit { try $0.relyingParties.put(party, isAccount: false) }
        #expect(try await scene.world.store.read { try $0.relyingParties.find(party.client) } == party)
    }

    @Test("A type that could not ask for a sign-in is refused in the settings, by its name")
    func settings() async throws {
        let scene = try await SignInScene()
        let uri = try #require(RedirectURI(SignInScene.redirectURI))
        let unknown = try #require(TypeName("unknown"))
        for type in [TypeName.qr, unknown] {
            let party = RelyingParty(
                client: scene.shop.id, profile: .native, redirectURIs: [uri], stepUpTypes: [.pin, type])
            let outcome = try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports)
            #expect(outcome == .typeNotUsable(type))
        }
    }
}
