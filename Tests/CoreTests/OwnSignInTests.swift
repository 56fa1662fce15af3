import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/protocol/signing-in.md, *With a PIN or a biometric*.
@Suite("A device signs its user in by the PIN, too")
struct OwnSignInTests {
    private func ask(
        _ scene: SignInScene, at client: ClientID? = nil, by device: TestDevice? = nil
    ) async throws -> AskOwnSignIn.Outcome {
        try await AskOwnSignIn.ask(
            at: client ?? scene.shop.id, by: try await (device ?? scene.device).call(), ports: scene.world.ports)
    }

    private func asked(_ scene: SignInScene, at client: ClientID? = nil) async throws -> ChallengeID {
        let outcome = try await ask(scene, at: client)
        guard case .asked(let id) = outcome else { throw World.Broken("\(outcome)") }
        return id
    }

    /// The phone opens a challenge and answers it.
    private func answer(
        _ id: ChallengeID, _ decision: Decision, by key: SigningKeyPair, _ scene: SignInScene
    ) async throws -> AnswerChallenge.Outcome {
        let device = scene.device
        try await device.open(id)
        let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
        let receipt = Receipt(
            of: challenge.question, user: scene.user, device: device.certificate.fingerprint, decision: decision,
            answeredAt: scene.world.time.now)
        return try await device.answer(id, with: try await device.seal(receipt.text, signedBy: key))
    }

    private func signIn(
        _ scene: SignInScene, by challenge: ChallengeID?, at client: ClientID? = nil, of device: TestDevice? = nil
    ) async throws -> SignInDevice.Outcome {
        let (device, client) = (device ?? scene.device, client ?? scene.shop.id)
        let assertion = DeviceAssertion(
            enrollment: device.enrollment, user: device.invitation.user, issuer: scene.world.ports.issuer,
            client: "\(client)", challenge: challenge, named: Hex.encode(scene.world.random.bytes(16)),
            at: scene.world.time.now)
        return try await SignInDevice.signIn(
            by: Secret(try await assertion.signed(by: device.authentication)), scopes: ["openid", Ticket.scope],
            at: client, ports: scene.world.ports)
    }

    @Test(
        "The challenge is for this device alone, tells nobody, and its answer shows two factors",
        arguments: Engine.allCases)
    func signsIn(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let pin = try await scene.device.setPIN()
        let id = try await asked(scene)
        let listed = try await PendingChallenges.list(for: try await scene.device.call(), ports: scene.world.ports)
        guard case .list(let pending, _) = listed else { throw World.Broken("\(listed)") }
        #expect(pending.isEmpty)
        scene.world.time.advance(seconds: 10)
        _ = try await answer(id, .approved(.pin, number: nil), by: pin, scene)
        let approvedAt = scene.world.time.now
        scene.world.time.advance(seconds: 5)
        guard case .signedIn(let given) = try await signIn(scene, by: id) else { throw World.Broken("signed in") }
        let authentication = given.family.authentication
        #expect(authentication.methods == ["swk", "user", "pin", "mfa"] && authentication.strength == .twoFactors)
        #expect(authentication.evidence == .approval(id, scene.device.enrollment) && authentication.at == approvedAt)
        #expect(given.scopes == ["openid"], "it enrolls nothing")
        let kept = try await scene.world.store.read { try $0.challenges.findWithReceipt(id) }
        #expect(kept?.receipt != nil)
    }

    @Test("What was approved signs in once, within the two minutes, also by two requests at the same time")
    func once() async throws {
        let scene = try await SignInScene()
        let pin = try await scene.device.setPIN()
        let id = try await asked(scene)
        _ = try await answer(id, .approved(.pin, number: nil), by: pin, scene)
        let both = try await atOnce(2) { _ in try await signIn(scene, by: id) == .invalid }
        #expect(both.count { $0 } == 1)
        #expect(try await signIn(scene, by: id) == .invalid)
        let late = try await asked(scene)
        _ = try await answer(late, .approved(.pin, number: nil), by: pin, scene)
        scene.world.time.advance(seconds: 120)
        #expect(try await signIn(scene, by: late) == .invalid)
    }

    @Test("No other challenge does: of another client, of a relying party, not approved, or another device's")
    func other() async throws {
        let scene = try await SignInScene()
        let world = scene.world
        let pin = try await scene.device.setPIN()
        let other = try await scene.otherClient()
        let id = try await asked(scene)
        #expect(try await signIn(scene, by: id) == .invalid, "not answered")
        _ = try await answer(id, .approved(.pin, number: nil), by: pin, scene)
        _ = try await world.ports.store.commit { try $0.links.put(scene.user, to: other, externalID: nil) }
        #expect(try await signIn(scene, by: id, at: other) == .invalid)
        let second = try await world.makeDevice(of: scene.user, by: scene.shop)
        #expect(try await signIn(scene, by: id, of: second) == .invalid)
        guard case .signedIn = try await signIn(scene, by: nil, of: second) else { throw World.Broken("second") }
        let denied = try await asked(scene)
        _ = try await answer(denied, .denied, by: scene.device.primary, scene)
        #expect(try await signIn(scene, by: denied) == .invalid)
        try await world.makeType(numberEntry: false, methods: [.pin])
        let paid = try await world.ask(try world.request(for: scene.user), by: scene.shop)
        _ = try await answer(paid.challenge.id, .approved(.pin, number: nil), by: pin, scene)
        #expect(try await signIn(scene, by: paid.challenge.id) == .invalid)
        #expect(try await signIn(scene, by: world.newID()) == .invalid)
        guard case .signedIn = try await signIn(scene, by: id) else { throw World.Broken("signed in") }
    }

    @Test("A client whose type demands a PIN takes it, and one whose type is labelled AAL2 takes nothing")
    func type() async throws {
        let scene = try await SignInScene()
        let pin = try await scene.device.setPIN()
        func set(_ type: ChallengeType) async throws {
            try await scene.world.store.commit { try $0.types.put(type) }
            let party = RelyingParty(
                client: scene.shop.id, profile: .native,
                redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], type: type.name)
            #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        }
        try await set(ChallengeType(name: .pin, methods: [.pin]))
        let id = try await asked(scene)
        _ = try await answer(id, .approved(.pin, number: nil), by: pin, scene)
        guard case .signedIn = try await signIn(scene, by: id) else { throw World.Broken("signed in") }
        let late = try await asked(scene)
        _ = try await answer(late, .approved(.pin, number: nil), by: pin, scene)
        try await set(ChallengeType(name: .biometric, methods: [.biometric]))
        #expect(try await ask(scene) == .methodMissing)
        #expect(try await signIn(scene, by: late) == .invalid)
        try await set(ChallengeType(name: .pin, methods: [.pin], isAAL2: true))
        #expect(try await ask(scene) == .clientGone)
    }

    @Test("A third party does not see who is asked before the person has allowed it something")
    func thirdParty() async throws {
        let scene = try await AccountScene()
        _ = try await scene.shop.device.setPIN()
        try await scene.confirm(scene.phone)
        #expect(try await ask(scene.shop, at: scene.third.id) == .userNotLinked)
        let finished = try await scene.shop.signedIn(with: scene.shop.device, as: "customer-1", at: scene.shop.shop)
        guard case .finished = try await scene.shop.goOn(finished, at: scene.third) else { throw World.Broken("third") }
        guard case .asked = try await ask(scene.shop, at: scene.third.id) else { throw World.Broken("asked") }
    }

    @Test("With the device's suspension ends what it was asked for its sign-in")
    func suspended() async throws {
        let scene = try await SignInScene()
        _ = try await scene.device.setPIN()
        let id = try await asked(scene)
        for isSuspended in [true, false] {
            #expect(
                try await SuspendEnrollment.suspend(
                    scene.device.enrollment, isSuspended, by: .system, ports: scene.world.ports) == .done)
        }
        let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
        #expect(!challenge.isOpen(at: scene.world.time.now))
    }

    @Test("Whoever cannot sign in so is told why, and the client's asking is not locked by a report")
    func refused() async throws {
        let scene = try await SignInScene()
        let world = scene.world
        #expect(try await ask(scene) == .methodMissing)
        _ = try await scene.device.setPIN()
        #expect(try await ask(scene, at: world.newID()) == .clientGone)
        let third = try await world.makeClient("Third", waives: true, isThirdParty: true).client
        try await AccountScene.set(third, at: SignInScene.redirectURI, .open, in: world)
        #expect(try await ask(scene, at: third.id) == .notConfirmed)
        let stranger = try await scene.otherClient()
        #expect(try await ask(scene, at: stranger) == .userNotLinked)
        let open = try await world.makeClient("Open").client
        try await AccountScene.set(open, at: SignInScene.redirectURI, .open, in: world)
        guard case .asked = try await ask(scene, at: open.id) else { throw World.Broken("open") }
        let strict = try await world.makeClient("Strict").client
        _ = try await world.ports.store.commit { try $0.links.put(scene.user, to: strict.id, externalID: nil) }
        let waiting = try await world.makeDevice(of: scene.user, by: strict)
        #expect(try await ask(scene, by: waiting) == .waiting)
        let id = try await asked(scene)
        _ = try await answer(id, .reported, by: scene.device.primary, scene)
        let lock = try await world.count("asking_locks")
        #expect(lock == 0)
        // One is the report's, one the open client's.
        for _ in 0..<58 { _ = try await asked(scene) }
        #expect(try await ask(scene) == .tooMany(retryAfter: 60))
        try await scene.set(ways: [.email])
        #expect(try await ask(scene) == .clientGone)
    }
}
