import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import OpenPGP
import StorageTestSupport
import Testing

@Suite("The issuer's keys rotate, and nothing is refused meanwhile")
struct RotateIssuerKeyTests {
    private static let day = Seconds.days(1)

    /// A shop with a user and a device, and an operator.
    private struct Scene {
        let world: World
        let shop: Client
        let user: UserID
        let device: TestDevice
        let caller: Client

        init(_ world: World) async throws {
            self.world = world
            try await world.makeType()
            _ = try await FirstStart.prepare(store: world.store, time: world.time, random: world.random)
            shop = try await world.makeClient(waives: true).client
            user = try await world.makeUser("x", of: shop)
            device = try await world.makeDevice(of: user, by: shop)
            caller = try #require(try await world.store.read { try $0.clients.operatorClient() })
            // Of two keys of one second neither is the newer one.
            world.time.advance(seconds: 1)
        }

        func begin(_ use: KeyUse, atOnce: Bool = false, compromised: Bool = false) async throws
            -> RotateIssuerKey.Outcome
        {
            let outcome = try await RotateIssuerKey.begin(
                use, isAtOnce: atOnce, isCompromised: compromised, by: caller.actor, ports: world.ports)
            try await world.store.refreshKeys()
            return outcome
        }

        /// Lets time pass, and does what is due.
        func pass(_ length: Seconds) async throws {
            world.time.advance(length)
            try await RotateIssuerKey.sweep(ports: world.ports)
            try await world.store.refreshKeys()
        }

        func states(_ use: KeyUse) async throws -> [IssuerKey.State] {
            guard case .keys(let keys) = try await ListIssuerKeys.list(ports: world.ports) else { return [] }
            return keys.filter { $0.use == use }.map(\.state)
        }

        /// An answer, sealed by the issuer's certificate as it is now; not sent.
        func sealedAnswer() async throws -> (ChallengeID, [UInt8]) {
            let asked = try await world.ask(try world.request(for: user), by: shop)
            try await device.open(asked.challenge.id)
            return (asked.challenge.id, try await device.receipt(of: asked, .denied))
        }

        func isTaken(_ answer: (ChallengeID, [UInt8])) async throws -> Bool {
            switch try await device.answer(answer.0, with: answer.1) {
            case .decided: return true
            case .invalid(.message(.notForThisKey)): return false
            case let other: throw World.Broken("\(other)")
            }
        }

        /// By whom what the device opens is signed.
        func signer() async throws -> Fingerprint {
            let asked = try await world.ask(try world.request(for: user), by: shop)
            guard
                case .message(let sealed) = try await OpenChallenge.open(
                    asked.challenge.id, for: try await device.call(), ports: world.ports)
            else { throw World.Broken("message") }
            let signer = try await signer(of: sealed)
            _ = try await device.answer(asked, .denied)
            return signer
        }

        /// By whom a message to the device is signed.
        func signer(of sealed: [UInt8]) async throws -> Fingerprint {
            try await EncryptedMessage.open(
                sealed, with: device.encryption, signers: world.issuerKeys.certificate.keys,
                intendedRecipient: device.certificate.fingerprint, now: world.time.now.unixSeconds
            ).signer.fingerprint
        }

        /// The newest challenge in the device's list, as it is sealed there.
        func listed() async throws -> [UInt8] {
            guard
                case .list(let entries, _) = try await PendingChallenges.list(
                    for: try await device.call(), ports: world.ports),
                let message = entries.first?.message
            else { throw World.Broken("list") }
            return message
        }
    }

    private func begun(_ outcome: RotateIssuerKey.Outcome) throws -> IssuerKey {
        guard case .begun(let key) = outcome else { throw World.Broken("\(outcome)") }
        return key
    }

    @Test("A certificate without room for planned keys has room for those that replace compromised ones")
    func fullCertificate() async throws {
        let scene = try await Scene(try await World())
        while true {
            let outcome = try await scene.begin(.signing, atOnce: true)
            if case .certificateFull = outcome { break }
            guard case .begun = outcome else { throw World.Broken("\(outcome)") }
            try await scene.pass(RotateIssuerKey.settling)
        }
        let count = try scene.world.issuerKeys.certificate.subkeys.count
        #expect(count > 40)
        guard case .begun = try await scene.begin(.signing, compromised: true) else {
            Issue.record("a compromised key stays")
            return
        }
        #expect(try await scene.states(.signing).contains(.next))
    }

    @Test("A signing key is published for a day, signs for the next, and is honoured for a day after")
    func signing() async throws {
        let scene = try await Scene(try await World())
        let first = try await scene.signer()
        let before = try scene.world.issuerKeys.certificate
        let next = try begun(try await scene.begin(.signing))
        let name = try next.publicName()
        let published = try scene.world.issuerKeys.certificate
        #expect(published.keys.contains { "\($0.fingerprint)" == name }, "known before it signs")
        #expect(published.fingerprint == before.fingerprint)
        try await scene.pass(Self.day - 1)
        #expect(try await scene.signer() == first)
        #expect(try await scene.states(.signing) == [.current, .next])
        try await scene.pass(1)
        #expect(try await "\(scene.signer())" == name)
        #expect(try await scene.states(.signing) == [.retired, .current])
        try await scene.pass(Self.day - 1)
        let honoured = try scene.world.issuerKeys.certificate
        #expect(honoured.keys.first { $0.fingerprint == first }?.revokedAt == nil)
        try await scene.pass(1)
        let ended = try scene.world.issuerKeys.certificate
        let now = scene.world.time.now.unixSeconds
        #expect(ended.keys.first { $0.fingerprint == first }?.revokedAt == now, "what it signed before stays good")
        #expect(try await scene.states(.signing) == [.current])
        #expect(try await "\(scene.signer())" == name)
        let told = try await scene.world.audit().filter { $0.kind == .issuerKeyChanged }
        #expect(told.map { $0.detail["state"]?.string } == ["next", "retired", "current", "ended"])
    }

    @Test("A challenge in a list comes in the same bytes while one key signs, and is sealed anew by the next")
    func listed() async throws {
        let scene = try await Scene(try await World())
        _ = try await scene.world.ask(try scene.world.request(for: scene.user), by: scene.shop)
        let first = try await scene.listed()
        let signer = try await scene.signer(of: first)
        let name = try begun(try await scene.begin(.signing, atOnce: true)).publicName()
        #expect(try await scene.listed() == first, "the next key is published and does not sign yet")
        try await scene.pass(RotateIssuerKey.settling)
        let second = try await scene.listed()
        #expect(second != first)
        let nextSigner = try await scene.signer(of: second)
        #expect("\(nextSigner)" == name && nextSigner != signer)
    }

    @Test("An encryption key is published when it is used; what was sealed to the earlier one is honoured for a day")
    func encryption() async throws {
        let scene = try await Scene(try await World())
        let before = try scene.world.issuerKeys.certificate
        let next = try begun(try await scene.begin(.encryption))
        #expect(try scene.world.issuerKeys.certificate.encoded == before.encoded, "nobody could open it elsewhere yet")
        try await scene.pass(RotateIssuerKey.settling - 1)
        #expect(try await scene.states(.encryption) == [.current, .next])
        let early = try await scene.sealedAnswer()
        try await scene.pass(1)
        let now = scene.world.time.now.unixSeconds
        let sealing = try scene.world.issuerKeys.certificate.key(for: .encrypt, at: now)
        #expect("\(sealing.fingerprint)" == (try next.publicName()))
        #expect(try await scene.isTaken(early))
        // Types end their questions within the day, so a later one is sealed to the key of before by hand.
        func sealedToEarlier() async throws -> (ChallengeID, [UInt8]) {
            let asked = try await scene.world.ask(try scene.world.request(for: scene.user), by: scene.shop)
            try await scene.device.open(asked.challenge.id)
            let now = scene.world.time.now
            let receipt = Receipt(
                of: try await scene.world.challenge(asked).question, user: scene.user,
                device: scene.device.certificate.fingerprint,
                decision: .denied, answeredAt: now)
            let message = try await EncryptedMessage.seal(
                .text(receipt.text), signedBy: scene.device.primary,
                to: try before.key(for: .encrypt, at: now.unixSeconds).publicKey,
                intendedRecipient: before.fingerprint, at: now.unixSeconds)
            return (asked.challenge.id, message)
        }
        try await scene.pass(Self.day - 1)
        #expect(try await scene.isTaken(try await sealedToEarlier()))
        try await scene.pass(1)
        #expect(try await scene.isTaken(try await sealedToEarlier()) == false)
        #expect(try await scene.isTaken(try await scene.sealedAnswer()))
        #expect(try scene.world.issuerKeys.certificate.keys.filter { $0.revokedAt != nil }.count == 1)
    }

    @Test("A push key is published for a day before it signs, and for a day after it did")
    func push() async throws {
        let scene = try await Scene(try await World())
        let first = try scene.world.issuerKeys.pushKeyID
        let next = try begun(try await scene.begin(.push)).publicName()
        func published() throws -> Set<String> { Set(try scene.world.issuerKeys.pushKeys.keys.map(\.thumbprint)) }
        #expect(try published() == [first, next])
        #expect(try scene.world.issuerKeys.pushKeyID == first)
        try await scene.pass(Self.day)
        #expect(try scene.world.issuerKeys.pushKeyID == next)
        #expect(try published() == [first, next])
        try await scene.pass(Self.day)
        #expect(try published() == [next])
    }

    @Test("One rotation of a use at a time; it can be hastened, but never to before every server holds the key")
    func hastened() async throws {
        let scene = try await Scene(try await World())
        let next = try begun(try await scene.begin(.push))
        guard case .underWay(let known) = try await scene.begin(.push) else { throw World.Broken("begun twice") }
        #expect(known.id == next.id)
        let hastened = try begun(try await scene.begin(.push, atOnce: true))
        #expect(hastened.id == next.id)
        #expect(hastened.changesAt == scene.world.time.now.adding(RotateIssuerKey.settling))
        // Asked again, it is not put off.
        try await scene.pass(RotateIssuerKey.settling - 1)
        #expect(try await scene.begin(.push, atOnce: true).key?.changesAt == hastened.changesAt)
        #expect(try await scene.states(.push) == [.current, .next])
        try await scene.pass(1)
        #expect(try await scene.states(.push) == [.retired, .current])
        // The others stay what they were, and another can be begun while one is still honoured.
        #expect(try await scene.states(.signing) == [.current])
        _ = try begun(try await scene.begin(.push, atOnce: true))
        try await scene.pass(RotateIssuerKey.settling)
        #expect(try await scene.states(.push) == [.retired, .retired, .current])
    }

    @Test("A key that somebody else has is honoured no more once another has taken its place, nor those before it")
    func compromised() async throws {
        let scene = try await Scene(try await World())
        let first = try await scene.signer()
        _ = try await scene.begin(.signing, atOnce: true)
        try await scene.pass(RotateIssuerKey.settling)
        let second = try await scene.signer()
        #expect(try await scene.states(.signing) == [.retired, .current])
        let third = try begun(try await scene.begin(.signing, compromised: true))
        try await scene.pass(RotateIssuerKey.settling)
        #expect(try await scene.states(.signing) == [.current])
        #expect(try await "\(scene.signer())" == (try third.publicName()))
        let certificate = try scene.world.issuerKeys.certificate
        for fingerprint in [first, second] {
            // From the beginning: nothing the key ever signed counts.
            #expect(certificate.keys.first { $0.fingerprint == fingerprint }?.revokedAt == 0)
        }
    }

    @Test("A key that waits when the current one is somebody else's is not used: both were kept in one place")
    func compromisedNext() async throws {
        let scene = try await Scene(try await World())
        let waiting = try begun(try await scene.begin(.signing))
        let next = try begun(try await scene.begin(.signing, compromised: true))
        #expect(next.id != waiting.id)
        let name = try waiting.publicName()
        let certificate = try scene.world.issuerKeys.certificate
        #expect(certificate.keys.first { "\($0.fingerprint)" == name }?.revokedAt == 0)
        try await scene.pass(RotateIssuerKey.settling)
        #expect(try await "\(scene.signer())" == (try next.publicName()))
        // A superseded key of long ago counts for nothing either, once its successor turns out to be known.
        try await scene.pass(Self.day)
        _ = try await scene.begin(.signing, atOnce: true)
        try await scene.pass(RotateIssuerKey.settling)
        try await scene.pass(Self.day)
        let superseded = try scene.world.issuerKeys.certificate.keys.filter { ($0.revokedAt ?? 0) > 0 }
        #expect(superseded.map { "\($0.fingerprint)" } == [try next.publicName()])
        _ = try await scene.begin(.signing, compromised: true)
        #expect(try scene.world.issuerKeys.certificate.keys.allSatisfy { $0.revokedAt == nil || $0.revokedAt == 0 })
    }

    @Test("That a key is somebody else's is not forgotten by a step at the same moment", arguments: 0..<8)
    func compromisedAtOnce(_ round: Int) async throws {
        let scene = try await Scene(try await World(seed: UInt64(round)))
        _ = try await scene.begin(.push, atOnce: true)
        scene.world.time.advance(RotateIssuerKey.settling)
        async let swept: Void = RotateIssuerKey.sweep(ports: scene.world.ports)
        async let begun = scene.begin(.push, compromised: true)
        _ = try await (swept, begun)
        try await scene.pass(RotateIssuerKey.settling)
        try await scene.pass(0)
        #expect(try await scene.states(.push) == [.current], "none of before is honoured")
    }

    @Test("Two servers, of which one has read the keys a minute ago: either opens and signs what the other does")
    func twoServers() async throws {
        let scene = try await Scene(try await World())
        let world = scene.world
        // The other server read them just before the rotation's first step, and again 60 seconds later at the latest.
        let other = try await world.opened(with: try World.masterKey())
        try await other.refreshKeys()
        let ports = Ports(
            issuer: world.ports.issuer, store: other, changes: world.hub, time: world.time, clock: ContinuousClock(),
            random: world.random,
            hasher: world.ports.hasher, keys: other.issuerKeySource, hooks: world.hooks, logger: world.ports.logger)
        func opens(_ answer: (ChallengeID, [UInt8])) async throws -> Bool {
            let outcome = try await AnswerChallenge.answer(
                AnswerRequest(message: answer.1), to: answer.0, by: try await scene.device.call(), ports: ports)
            if case .decided = outcome { return true } else { return false }
        }
        for use in [KeyUse.encryption, .signing] {
            _ = try begun(try await scene.begin(use, atOnce: true))
            try await scene.pass(60)
            try await other.refreshKeys()
            try await scene.pass(RotateIssuerKey.settling - 60)
            #expect(try await scene.states(use) == [.retired, .current])
            // Sealed to the newest key, to the server that does not know yet that it is the current one.
            #expect(try await opens(try await scene.sealedAnswer()))
            let signed = try other.issuerKeySource.current().signing.publicKey.fingerprint
            #expect(try world.issuerKeys.certificate.keys.contains { $0.fingerprint == signed && $0.revokedAt == nil })
            try await other.refreshKeys()
            #expect(try await opens(try await scene.sealedAnswer()))
        }
    }

    @Test(
        "Of two rotations of one use at once one begins, and the other is told of it",
        arguments: [KeyUse.signing, .push])
    func atOnce(_ use: KeyUse) async throws {
        let scene = try await Scene(try await World())
        let outcomes = try await withThrowingTaskGroup(of: RotateIssuerKey.Outcome.self) { group in
            for _ in 0..<4 { group.addTask { try await scene.begin(use) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let begun = outcomes.filter { if case .begun = $0 { true } else { false } }
        #expect(begun.count == 1)
        #expect(Set(outcomes.map(\.key?.id)).count == 1)
        #expect(try await scene.states(use) == [.current, .next])
    }

    @Test("Of two uses that rotate at once neither takes the other's key out of the certificate")
    func twoUses() async throws {
        let scene = try await Scene(try await World())
        async let signing = scene.begin(.signing)
        async let encryption = scene.begin(.encryption)
        _ = try await (signing, encryption)
        try await scene.pass(Self.day)
        #expect(try scene.world.issuerKeys.certificate.subkeys.count == 4)
    }
}

extension RotateIssuerKey.Outcome {
    fileprivate var key: IssuerKey? {
        switch self {
        case .begun(let key), .underWay(let key): key
        case .certificateFull: nil
        }
    }
}
