import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import RelyingPartyAPI
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

@Suite("Answering with a PIN")
struct PINAnswerTests {
    @Test("An answer by a PIN that is replaced while it is verified is refused, counted and audited")
    func replacedMeanwhile() async throws {
        let pause = BeforeNextWrite()
        let world = try await World(.chosen, in: try TemporaryFolder(), time: ScriptedTime(), seed: 1) { engine in
            RecordingEngine(engine, beforeWrite: { _ in try await pause.run() })
        }
        try await world.makeType(numberEntry: false, methods: [.pin])
        let shop = try await world.makeClient(waives: true).client
        let device = try await world.makeDevice(of: try await world.makeUser(of: shop), by: shop)
        let pin = try await device.setPIN()
        let asked = try await world.ask(try world.request(for: device.invitation.user), by: shop)
        try await device.open(asked.challenge.id)
        let message = try await device.approval(of: asked, by: pin)
        let call = try await device.call()
        pause.then {
            guard case .changed = try await PINChange(of: device, from: pin, to: device.newPINKey()).send() else {
                throw World.Broken("PIN")
            }
        }
        let outcome = try await AnswerChallenge.answer(
            AnswerRequest(message: message), to: asked.challenge.id, by: call, ports: world.ports)
        #expect(outcome.summary == "invalid")
        let refused = try await world.audit().filter { $0.kind == .answerRefused }
        #expect(refused.map { $0.detail["reason"]?.string } == ["signer"])
    }

    @Test("Step 6: who signs proves the method, and nothing else passes for it")
    func signers() async throws {
        let scene = try await PINScene()
        let pin = try await scene.device.setPIN()
        let primary = scene.device.primary
        for (type, decision, signer, reason) in [
            ("payment", Decision.approved(.confirm, number: nil), primary, "method"),
            ("payment", .approved(.confirm, number: nil), pin, "method"),
            ("payment", .denied, pin, "signer"), ("payment", .reported, pin, "signer"),
            ("either", .denied, scene.device.newPINKey(), "signer"),
        ] {
            let asked = try await scene.ask(type)
            let receipt = Receipt(
                of: try await scene.world.challenge(asked).question, user: scene.user,
                device: scene.device.certificate.fingerprint,
                decision: decision,
                answeredAt: scene.world.time.now)
            let message = try await scene.device.seal(receipt.text, signedBy: signer)
            #expect(try await scene.device.answer(asked.challenge.id, with: message).summary == "invalid")
            let refused = try await scene.world.audit().last { $0.kind == .answerRefused }
            #expect(refused?.detail["reason"]?.string == reason, "\(type) \(decision)")
        }
        #expect(try await scene.device.methods().attemptsLeft == 5, "none of these is a wrong PIN")
        // Any other key than the PIN's is one, the device's own included.
        #expect(try await scene.approve(try await scene.ask(), by: primary) == "PIN incorrect, 4 left")
        let either = try await scene.ask("either")
        let confirmed = Receipt(
            of: try await scene.world.challenge(either).question, user: scene.user,
            device: scene.device.certificate.fingerprint,
            decision: .approved(.confirm, number: either.number), answeredAt: scene.world.time.now)
        let byPIN = try await scene.device.seal(confirmed.text, signedBy: pin)
        #expect(try await scene.device.answer(either.challenge.id, with: byPIN).summary == "invalid")
        #expect(try await scene.approve(either, by: pin) == "decided approved -")
    }

    @Test("Only what is right in every other respect counts as a wrong PIN")
    func notCounted() async throws {
        let scene = try await PINScene()
        _ = try await scene.device.setPIN()
        let wrong = scene.device.newPINKey()
        let asked = try await scene.ask("either")
        let right = Receipt(
            of: try await scene.world.challenge(asked).question, user: scene.user,
            device: scene.device.certificate.fingerprint,
            decision: .approved(.pin, number: asked.number), answeredAt: scene.world.time.now
        ).text
        for (text, reason) in [
            (right.replacing("method: pin", with: "method: confirm"), "signer"),
            (right.replacing("type: either", with: "type: eithe"), "text"),
            (right.split(separator: "\n").filter { !$0.hasPrefix("number: ") }.joined(separator: "\n"), "method"),
            ("Countersign", "text"),
        ] {
            let message = try await scene.device.seal(text, signedBy: wrong)
            #expect(try await scene.device.answer(asked.challenge.id, with: message).summary == "invalid")
            let refused = try await scene.world.audit().last { $0.kind == .answerRefused }
            #expect(refused?.detail["reason"]?.string == reason, "\(text)")
        }
        #expect(try await scene.device.methods().attemptsLeft == 5)
        #expect(try await scene.approve(asked, by: wrong) == "PIN incorrect, 4 left")
    }

    @Test(
        "A wrong number after a right PIN fails the challenge and forgets no wrong PIN; after a wrong PIN it is not looked at"
    )
    func number() async throws {
        let scene = try await PINScene()
        let pin = try await scene.device.setPIN()
        let asked = try await scene.ask("either")
        let digits = try #require(asked.number).digits == "000000" ? "000001" : "000000"
        let receipt = Receipt(
            of: try await scene.world.challenge(asked).question, user: scene.user,
            device: scene.device.certificate.fingerprint,
            decision: .approved(.pin, number: EntryNumber(digits)), answeredAt: scene.world.time.now)
        let both = try await scene.device.seal(receipt.text, signedBy: scene.device.newPINKey())
        #expect(try await scene.device.answer(asked.challenge.id, with: both).summary == "PIN incorrect, 4 left")
        let number = try await scene.device.seal(receipt.text, signedBy: pin)
        #expect(
            try await scene.device.answer(asked.challenge.id, with: number).summary == "decided failed wrong_number")
        #expect(try await scene.device.methods().attemptsLeft == 4)
    }

    @Test("A type limits wrong answers to one challenge: then that has failed, and the PIN counts on by itself")
    func attemptsOfType() async throws {
        let scene = try await PINScene()
        let pin = try await scene.device.setPIN()
        let name = try #require(TypeName("twice"))
        let type = try ChallengeType(["methods": ["pin"], "attempts": 2, "number_entry": false], name: name)
        try await scene.world.store.commit { try $0.types.put(type) }
        let asked = try await scene.ask("twice")
        let first = try await scene.device.approval(of: asked, by: scene.device.newPINKey())
        for _ in 0..<2 {
            let outcome = try await scene.device.answer(asked.challenge.id, with: first)
            #expect(outcome.summary == "PIN incorrect, 1 left", "what comes first: the type's limit, not the PIN's")
        }
        #expect(try await scene.device.methods().attemptsLeft == 4)
        let message = try await scene.device.approval(of: asked, by: scene.device.newPINKey())
        for _ in 0..<2 {
            let outcome = try await scene.device.answer(asked.challenge.id, with: message)
            #expect(outcome.summary == "decided failed too_many_attempts", "the same answer again is told the same")
        }
        #expect(try await scene.device.methods().attemptsLeft == 3, "it was counted once")
        #expect(try await scene.approve(asked, by: pin) == "already ended failed too_many_attempts")
        let other = try await scene.ask("twice")
        #expect(try await scene.approve(other, by: scene.device.newPINKey()) == "PIN incorrect, 1 left")
        #expect(try await scene.approve(other, by: pin) == "decided approved -")
        // What was asked before a type changed keeps what it was asked with.
        let last = try await scene.ask("twice")
        let looser = try ChallengeType(["methods": ["pin"], "attempts": 9, "number_entry": false], name: name)
        try await scene.world.store.commit { try $0.types.put(looser) }
        _ = try await scene.approve(last, by: scene.device.newPINKey())
        #expect(try await scene.approve(last, by: scene.device.newPINKey()) == "decided failed too_many_attempts")
        // Where the PIN's own limit comes first it is that which counts.
        let locked = try await scene.ask("twice")
        var told = ""
        for _ in 0..<3 { told = try await scene.approve(locked, by: scene.device.newPINKey()) }
        #expect(told == "PIN incorrect, 0 left")
        #expect(try await scene.device.methods().pin == .locked)
    }

    @Test("Without a PIN an approval by one is just invalid, and the user is asked by no type that needs one")
    func notSet() async throws {
        let scene = try await PINScene()
        await #expect(throws: World.Broken.self) { try await scene.ask() }
        let asked = try await scene.ask("either")
        #expect(try await scene.approve(asked, by: scene.device.newPINKey()) == "invalid")
        func available() async throws -> [String] {
            try await AvailableMethods.list(for: .id(scene.user), client: scene.shop, ports: scene.world.ports).types
                .map {
                    "\($0.type) \($0.methods.map(\.rawValue))"
                }
        }
        // The types of the first start are not made in this world.
        #expect(try await available() == [#"either ["confirm"]"#])
        _ = try await scene.device.setPIN()
        #expect(try await available() == [#"either ["confirm", "pin"]"#, #"payment ["pin"]"#])
    }

    @Test("A challenge fails at the limit only when no other device can say yes, and only such devices are asked")
    func others() async throws {
        let scene = try await PINScene(["attempts": 1])
        _ = try await scene.device.setPIN()
        let other = try await scene.world.makeDevice(of: scene.user, by: scene.shop)
        let without = try await scene.ask()
        #expect(without.enrollments == [scene.device.enrollment], "the other one has no PIN")
        let theirs = try await other.setPIN()
        let both = try await scene.ask()
        #expect(Set(both.enrollments) == [scene.device.enrollment, other.enrollment])
        #expect(try await scene.approve(both, by: scene.device.newPINKey()) == "PIN incorrect, 0 left")
        let states = try await scene.world.store.read { reader in
            try [without, both].map { try reader.challenges.find($0.challenge.id)?.state.status }
        }
        #expect(states[0] == ChallengeStatus(state: "failed", reason: "too_many_attempts"))
        #expect(states[1] == ChallengeStatus(state: "pending", reason: nil))
        try await other.open(both.challenge.id)
        let message = try await other.approval(of: both, by: theirs)
        #expect(try await other.answer(both.challenge.id, with: message).summary == "decided approved -")
    }

    @Test("A stricter policy counts what was wrong before, and the next wrong one is the last")
    func stricter() async throws {
        let scene = try await PINScene(["attempts": 10])
        let pin = try await scene.device.setPIN()
        let asked = try await scene.ask()
        for left in [9, 8, 7] {
            #expect(try await scene.approve(asked, by: scene.device.newPINKey()) == "PIN incorrect, \(left) left")
        }
        let changes = ClientChanges(pinPolicy: try PINPolicy(["attempts": 2, "at_limit": "remove"], at: ""))
        _ = try await UpdateClient.update(scene.shop.id, changes, by: scene.shop.actor, ports: scene.world.ports)
        #expect(try await scene.device.methods().attemptsLeft == 1)
        #expect(try await scene.approve(asked, by: pin) == "decided approved -")
        #expect(try await scene.device.methods().attemptsLeft == 2)
    }
}
