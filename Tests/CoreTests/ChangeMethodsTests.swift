import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// A user with a device, for tests of its PIN.
struct PINScene: Sendable {
    let world: World
    let shop: Client
    let user: UserID
    let device: TestDevice

    init(_ policy: JSONValue = [:], engine: Engine = .sqlite, in given: World? = nil) async throws {
        world = if let given { given } else { try await World(engine) }
        try await world.makeType(numberEntry: false, methods: [.pin])
        try await world.makeType("either", methods: [.confirm, .pin])
        shop = try await world.makeClient(waives: true, pinPolicy: try PINPolicy(policy, at: "")).client
        user = try await world.makeUser(of: shop)
        device = try await world.makeDevice(of: user, by: shop)
    }

    func ask(_ type: String = "payment") async throws -> AskedChallenge {
        let asked = try await world.ask(try world.request(for: user, type: type), by: shop)
        try await device.open(asked.challenge.id)
        return asked
    }

    /// What an approval by a PIN comes to.
    func approve(_ asked: AskedChallenge, by key: SigningKeyPair) async throws -> String {
        let message = try await device.approval(of: asked, by: key)
        return try await device.answer(asked.challenge.id, with: message).summary
    }

    /// The reasons of refused changes, in order.
    func refusals() async throws -> [String?] {
        try await world.audit().filter { $0.kind == .methodChangeRefused }.map { $0.detail["reason"]?.string }
    }

    func certificate() async throws -> Certificate {
        let id = device.enrollment
        return try Certificate(parsing: try #require(try await world.store.read { try $0.methods.certificate(of: id) }))
    }
}

@Suite("The PIN")
struct ChangeMethodsTests {
    @Test("Set, replaced, removed: the certificate grows, each change is audited, and a repeat changes nothing")
    func changes() async throws {
        let scene = try await PINScene()
        let first = scene.device.newPINKey()
        let second = scene.device.newPINKey()
        var old: SigningKeyPair?
        for (new, state, subkeys) in [(first, "set", 3), (second, "set", 4), (nil, "none", 4)] {
            let request = try await PINChange(of: scene.device, from: old, to: new).request()
            for _ in 0..<2 where new != nil { #expect(try await scene.device.send(request).summary == "changed") }
            if new == nil { #expect(try await scene.device.send(request).summary == "changed") }
            #expect(try await scene.device.methods().pin.rawValue == state)
            let certificate = try await scene.certificate()
            #expect(certificate.subkeys.count == subkeys)
            if let old {
                let superseded = certificate.subkeys.first { $0.fingerprint == old.publicKey.fingerprint }
                #expect(superseded?.revokedAt == scene.world.time.now.unixSeconds)
            }
            old = new
        }
        let events = try await scene.world.audit().filter { $0.kind == .methodChanged }
        #expect(events.map { $0.detail["change"]?.string } == ["set", "replaced", "removed"])
        #expect(events.allSatisfy { $0.detail["method"] == "pin" && $0.enrollment == scene.device.enrollment })
        #expect(try await scene.refusals().isEmpty)
    }

    /// One thing each that is wrong about setting a first PIN, with the reason that is audited.
    static let mistakes: [(String, @Sendable (inout PINChange) async throws -> Void)] = [
        ("message", { $0.signer = $0.device.newPINKey() }),
        ("message", { $0.signer = try #require($0.new) }),
        ("text", { $0.text = { $0.replacing("Countersign change v1", with: "Countersign change v2") } }),
        ("text", { $0.text = { $0.replacing("issuer: https://", with: "issuer: https://not-") } }),
        ("text", { $0.text = { $0.replacing("method: pin", with: "method: confirm") } }),
        ("text", { $0.text = { $0 + "\nmore: 1" } }),
        ("text", { $0.text = { $0.replacing("new: ", with: "New: ") } }),
        (
            "text",
            { change in
                let other: EnrollmentID = AskScene.id(7)
                let own = change.device.enrollment
                change.text = { $0.replacing("\(own)", with: "\(other)") }
            }
        ),
        ("nonce", { $0.nonce = try #require(Nonce(bytes: $0.nonce.bytes.dropLast() + [$0.nonce.bytes[31] ^ 1])) }),
        ("nonce", { $0.nonce = try #require(Nonce(bytes: [$0.nonce.bytes[0] ^ 1] + $0.nonce.bytes.dropFirst())) }),
        ("nonce", { $0.device.world.time.advance(seconds: 300) }),
        (
            "old",
            {
                $0.old = $0.device.newPINKey()
                $0.authorizer = nil
            }
        ),
        ("certificate", { $0.certificate = $0.device.certificate }),
        ("certificate", { $0.certificate = try await $0.grown(notations: []) }),
        ("certificate", { $0.certificate = try await $0.grown(notations: [Notation(name: "method@x", value: "pin")]) }),
        (
            "certificate",
            {
                let end = $0.device.world.time.now.unixSeconds + 3600
                $0.certificate = try await $0.grown(expiresAt: end)
            }
        ),
        (
            "certificate",
            { change in
                let now = change.device.world.time.now.unixSeconds
                let more = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
                change.certificate = try await change.grown().adding(
                    .authentication(more), by: change.device.primary, at: now)
            }
        ),
        (
            "certificate",
            { change in
                let now = change.device.world.time.now.unixSeconds
                let authentication = change.device.certificate.subkeys[0].fingerprint
                change.certificate = try await change.grown().revoking(
                    authentication, because: .retired, by: change.device.primary, at: now)
            }
        ),
        (
            "certificate",
            { change in
                let now = change.device.world.time.now.unixSeconds
                change.certificate = try await change.grown().renewed(
                    until: now + 3600, by: change.device.primary, at: now)
            }
        ),
        (
            "certificate",
            { change in
                let other = try await Holder(at: change.device.world.time.now.unixSeconds)
                change.certificate = other.certificate
            }
        ),
        (
            "certificate",
            { change in
                let later = change.device.world.time.now.unixSeconds + 3600
                change.new = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: later)
            }
        ),
    ]

    @Test("A change that is wrong in one respect is refused, and changes nothing", arguments: 0..<21)
    func mistake(_ index: Int) async throws {
        #expect(Self.mistakes.count == 21)
        let (reason, change) = Self.mistakes[index]
        let scene = try await PINScene()
        let before = try await scene.certificate().encoded
        var made = try await PINChange(of: scene.device, to: scene.device.newPINKey())
        try await change(&made)
        #expect(try await made.send().summary == "invalid")
        #expect(try await scene.refusals() == [reason])
        #expect(try await scene.certificate().encoded == before)
        #expect(try await scene.device.methods().pin == .none)
        _ = try await scene.device.setPIN()
    }

    @Test("Once there is a PIN nothing is changed without its key, and the old key is superseded, not disowned")
    func authorization() async throws {
        let scene = try await PINScene()
        let pin = try await scene.device.setPIN()
        let before = try await scene.certificate().encoded
        func send(_ change: (inout PINChange) async throws -> Void) async throws -> String {
            var made = try await PINChange(of: scene.device, from: pin, to: scene.device.newPINKey())
            try await change(&made)
            return try await made.send().summary
        }
        #expect(try await send { $0.authorizer = nil } == "needs pin")
        #expect(try await send { $0.authorizedText = { $0 + "x" } } == "invalid")
        #expect(
            try await send {
                $0.authorizer = $0.device.primary; $0.authorizedText = { "x" + $0 }
            } == "invalid")
        #expect(try await send { $0.certificate = try await $0.grown(because: .compromised) } == "invalid")
        #expect(try await send { $0.old = nil } == "invalid", "as if there were none")
        #expect(
            try await send { change in
                change.new = nil
                change.certificate = change.device.certificate
            } == "invalid", "removed without being revoked")
        #expect(
            try await scene.refusals() == ["authorization", "authorization", "certificate", "old", "certificate"])
        #expect(try await scene.certificate().encoded == before)
        #expect(try await scene.device.methods().attemptsLeft == 5)
    }

    @Test("A wrong PIN in a change counts together with those in answers, and once for the same change")
    func wrongPIN() async throws {
        let scene = try await PINScene(["attempts": 3])
        let pin = try await scene.device.setPIN()
        let wrong = scene.device.newPINKey()
        let request = try await PINChange(of: scene.device, from: wrong, to: scene.device.newPINKey()).request()
        for _ in 0..<3 { #expect(try await scene.device.send(request).summary == "PIN incorrect, 2 left") }
        let asked = try await scene.ask()
        let message = try await scene.device.approval(of: asked, by: wrong)
        for _ in 0..<3 {
            let outcome = try await scene.device.answer(asked.challenge.id, with: message)
            #expect(outcome.summary == "PIN incorrect, 1 left")
        }
        let another = try await PINChange(of: scene.device, from: wrong, to: nil).request()
        for _ in 0..<3 { #expect(try await scene.device.send(another).summary == "PIN incorrect, 0 left") }
        #expect(try await PINChange(of: scene.device, from: wrong, to: nil).send().summary == "PIN locked")
        #expect(try await PINChange(of: scene.device, from: pin, to: nil).send().summary == "PIN locked")
        #expect(try await scene.device.methods().pin == .locked)
        #expect(try await scene.device.methods().attemptsLeft == 0)
        let kinds = try await scene.world.audit().map(\.kind)
        #expect(kinds.filter { $0 == .pinIncorrect }.count == 3)
        #expect(kinds.filter { $0 == .pinLocked }.count == 1)
        #expect(try await scene.refusals().isEmpty)
    }

    @Test("No reply tells a right PIN from a wrong one for nothing: every guess that is looked at counts")
    func noOracle() async throws {
        let scene = try await PINScene(["attempts": 10])
        let pin = try await scene.device.setPIN()
        // What is named as new is not compared with what there is.
        var named = try await PINChange(of: scene.device, to: pin)
        #expect(try await named.send().summary == "needs pin")
        named.old = pin
        named.new = scene.device.newPINKey()
        #expect(try await named.send().summary == "needs pin")
        // One nonce for many guesses: each wrong one counts, and the right one changes nothing once it is spent.
        let nonce = try await scene.device.methods().nonce
        func guess(_ key: SigningKeyPair) async throws -> String {
            var change = try await PINChange(of: scene.device, from: key, to: scene.device.newPINKey())
            change.nonce = nonce
            return try await change.send().summary
        }
        for left in [9, 8, 7] {
            #expect(try await guess(scene.device.newPINKey()) == "PIN incorrect, \(left) left")
        }
        // A request that is not let in, for its nonce was used, has its guess counted all the same.
        let asked = try await scene.ask()
        for (left, isFirst) in [(6, true), (5, false), (4, false)] {
            let call = try await scene.device.call(nonce: "one nonce for all requests")
            let message = try await scene.device.approval(of: asked, by: scene.device.newPINKey())
            let outcome = try await AnswerChallenge.answer(
                AnswerRequest(message: message), to: asked.challenge.id, by: call, ports: scene.world.ports)
            #expect(outcome.summary == (isFirst ? "PIN incorrect, 6 left" : "nonce replayed"))
            #expect(try await scene.device.methods().attemptsLeft == left)
        }
        let call = try await scene.device.call(nonce: "one nonce for all requests")
        let change = try await PINChange(of: scene.device, from: scene.device.newPINKey(), to: nil).request()
        let outcome = try await ChangeMethods.change(change, by: call, ports: scene.world.ports)
        #expect(outcome.summary == "nonce replayed")
        #expect(try await scene.device.methods().attemptsLeft == 3)
        // Where the text is not what it must be, the PIN's key is not looked at, whoever is named as signer.
        for key in [pin, scene.device.newPINKey()] {
            var other = try await PINChange(of: scene.device, from: key, to: scene.device.newPINKey())
            other.authorizedText = { $0 + "x" }
            #expect(try await other.send().summary == "invalid")
        }
        #expect(try await scene.device.methods().attemptsLeft == 3)
        #expect(try await PINChange(of: scene.device, from: pin, to: nil).send().summary == "changed")
    }

    @Test("Ten minutes after the enrollment a first PIN needs a ticket of the same user, and spends it")
    func authority() async throws {
        let scene = try await PINScene()
        scene.world.time.advance(seconds: 599)
        let key = try await scene.device.setPIN()
        #expect(try await PINChange(of: scene.device, from: key, to: nil).send().summary == "changed")
        scene.world.time.advance(seconds: 1)
        let own = try await scene.world.makeTicket(for: scene.user, by: scene.shop).ticket
        let stranger = try await scene.world.makeUser(of: scene.shop)
        let others = try await scene.world.makeTicket(for: stranger, by: scene.shop).ticket
        func set(_ ticket: Secret<String>?) async throws -> String {
            var change = try await PINChange(of: scene.device, to: scene.device.newPINKey())
            change.ticket = ticket
            return try await change.send().summary
        }
        for ticket in [nil, Secret("unknown"), others] { #expect(try await set(ticket) == "needs ticket") }
        scene.world.time.advance(seconds: 600)
        #expect(try await set(own) == "needs ticket", "expired")
        let fresh = try await scene.world.makeTicket(for: scene.user, by: scene.shop)
        #expect(try await set(fresh.ticket) == "changed")
        #expect(try await scene.world.count("tickets", where: "spent_at IS NOT NULL") == 2)
        let another = try await scene.world.makeDevice(of: scene.user, by: scene.shop)
        var change = try await PINChange(of: another, to: another.newPINKey())
        scene.world.time.advance(seconds: 100)
        change.ticket = fresh.ticket
        #expect(try await change.send().summary == "changed", "young enough to need none")
    }

    @Test("A ticket is spent only by a change that is made and needs it, of a client that is enabled and linked")
    func spentTickets() async throws {
        let scene = try await PINScene()
        let world = scene.world
        world.time.advance(Enrollment.enrolling)
        let rival = try await world.makeClient("Rival").client
        let user = scene.user
        _ = try await world.store.commit { try $0.links.put(user, to: rival.id, externalID: nil) }
        func spent() async throws -> Int64 { try await world.count("tickets", where: "spent_at IS NOT NULL") }
        let before = try await spent()
        let ticket = try await world.makeTicket(for: scene.user, by: rival).ticket
        var change = try await PINChange(of: scene.device, to: scene.device.newPINKey())
        change.ticket = ticket
        _ = try await DisableClient.disable(rival.id, by: rival.actor, ports: world.ports)
        #expect(try await change.send().summary == "needs ticket")
        _ = try await EnableClient.enable(rival.id, by: rival.actor, ports: world.ports)
        #expect(try await change.send().summary == "needs ticket")
        change.ticket = try await world.makeTicket(for: scene.user, by: rival).ticket
        _ = try await world.store.commit { try $0.links.delete(user, from: rival.id) }
        #expect(try await change.send().summary == "needs ticket")
        _ = try await world.store.commit { try $0.links.put(user, to: rival.id, externalID: nil) }
        #expect(try await change.send().summary == "changed")
        #expect(try await spent() == before + 1)
        // The nonce is spent: the change is refused, and its ticket is good for another.
        let second = try await world.makeTicket(for: scene.user, by: rival).ticket
        var other = try await PINChange(of: scene.device, to: scene.device.newPINKey())
        other.method = .biometric
        other.ticket = second
        let fresh = other.nonce
        other.nonce = change.nonce
        #expect(try await other.send().summary == "invalid")
        #expect(try await scene.refusals() == ["nonce"])
        other.nonce = fresh
        #expect(try await other.send().summary == "changed")
        #expect(try await spent() == before + 2)
        // What waits is removed without a ticket, also if the ticket would end the wait.
        var removal = try await PINChange(of: scene.device, from: change.new, to: nil)
        removal.authorizer = nil
        removal.ticket = try await world.makeTicket(for: scene.user, by: scene.shop).ticket
        #expect(try await removal.send().summary == "changed")
        #expect(try await spent() == before + 2)
    }

    @Test("A nonce of a node whose clock is a minute ahead is good, one of more is not")
    func clocks() async throws {
        for (seconds, expected) in [(60, "changed"), (61, "invalid")] as [(Int64, String)] {
            let scene = try await PINScene()
            let ahead = scene.world.ports.hasher.changeNonce(
                for: scene.device.enrollment, at: scene.world.time.now.adding(seconds: seconds),
                random: [UInt8](repeating: 7, count: 8))
            var change = try await PINChange(of: scene.device, to: scene.device.newPINKey())
            change.nonce = ahead
            #expect(try await change.send().summary == expected)
        }
    }

    @Test("Refused changes are limited to ten a minute")
    func rateLimit() async throws {
        let scene = try await PINScene()
        let garbage = MethodChangeRequest(message: [1, 2, 3])
        for _ in 0..<10 { #expect(try await scene.device.send(garbage).summary == "invalid") }
        for _ in 0..<2 { #expect(try await scene.device.send(garbage).summary == "rate limited 60") }
        #expect(try await scene.refusals().count == 10)
    }
}

extension ChangeMethods.Outcome {
    var summary: String {
        switch self {
        case .changed(let payload): payload.map { "changed: \($0)" } ?? "changed"
        case .refused(let refusal): refusal.summary
        case .invalid: "invalid"
        case .notAuthorized(let needs): "needs \(needs.rawValue)"
        case .pinIncorrect(let attemptsLeft): "PIN incorrect, \(attemptsLeft) left"
        case .pinLocked: "PIN locked"
        case .blocked: "blocked"
        case .certificateFull: "certificate full"
        case .customRetry(let payload): "custom retry: \(payload ?? "-")"
        case .customFailed(let payload): "custom failed: \(payload ?? "-")"
        case .customNotRegistered: "custom not registered"
        case .customUnavailable: "custom unavailable"
        case .rateLimited(let seconds): "rate limited \(seconds)"
        }
    }
}
