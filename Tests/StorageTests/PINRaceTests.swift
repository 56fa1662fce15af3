import CountersignCore
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@Suite("Guesses sent at once gain nothing")
struct PINRaceTests {
    @Test("Of 20 wrong PINs at once five are counted, and the PIN is locked once", arguments: Engine.allCases, 0..<4)
    func guesses(_ engine: Engine, _ round: Int) async throws {
        let world = try await World(engine, seed: UInt64(round))
        try await world.makeType(numberEntry: false, methods: [.pin])
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let pin = try await device.setPIN()
        var asked: [AskedChallenge] = []
        for _ in 0..<3 {
            asked.append(try await world.ask(try world.request(for: user), by: shop))
            try await device.open(asked[asked.count - 1].challenge.id)
        }
        var guesses: [(challenge: ChallengeID, message: [UInt8], call: DeviceCall)] = []
        for number in 0..<20 {
            let challenge = asked[number % 3]
            let message = try await device.approval(of: challenge, by: device.newPINKey())
            guesses.append((challenge.challenge.id, message, try await device.call()))
        }
        let all = guesses
        let outcomes = try await atOnce(20) { number in
            try await AnswerChallenge.answer(
                AnswerRequest(message: all[number].message), to: all[number].challenge, by: all[number].call,
                ports: world.ports)
        }
        let left = outcomes.compactMap { if case .pinIncorrect(let left) = $0 { left } else { nil } }
        #expect(left.sorted() == [0, 1, 2, 3, 4], "each count is told once")
        let others = outcomes.filter { outcome in
            switch outcome {
            case .pinLocked, .alreadyEnded(ChallengeStatus(state: "failed", reason: "too_many_attempts")): true
            default: false
            }
        }
        #expect(others.count == 15)
        let kinds = try await world.audit().map(\.kind)
        #expect(kinds.filter { $0 == .pinIncorrect }.count == 5)
        #expect(kinds.filter { $0 == .pinLocked }.count == 1)
        #expect(kinds.filter { $0 == .challengeFailed }.count == 3)
        #expect(try await device.methods().pin == .locked)
        // The right one comes too late, and a repeat of a wrong one is not counted.
        let change = try await PINChange(of: device, from: pin, to: nil).send()
        guard case .pinLocked = change else {
            Issue.record("\(change)")
            return
        }
    }

    @Test(
        "A change of the PIN and answers with the old one at once: each counts by the PIN there was",
        arguments: Engine.allCases)
    func changing(_ engine: Engine) async throws {
        let world = try await World(engine)
        try await world.makeType(numberEntry: false, methods: [.pin])
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let old = try await device.setPIN()
        let asked = try await world.ask(try world.request(for: user), by: shop)
        try await device.open(asked.challenge.id)
        let answer = try await device.approval(of: asked, by: old)
        let change = try await PINChange(of: device, from: old, to: device.newPINKey()).request()
        let calls = [try await device.call(), try await device.call()]
        let results = try await atOnce(2) { number -> String in
            if number == 0 {
                let outcome = try await ChangeMethods.change(change, by: calls[0], ports: world.ports)
                guard case .changed = outcome else { return "\(outcome)" }
                return "changed"
            }
            let request = AnswerRequest(message: answer)
            switch try await AnswerChallenge.answer(request, to: asked.challenge.id, by: calls[1], ports: world.ports) {
            case .decided(let reply): return reply.status.state
            case .pinIncorrect, .invalid: return "refused"
            default: return "unexpected"
            }
        }
        #expect(results[0] == "changed" && ["approved", "refused"].contains(results[1]), "\(results)")
        let state = try await world.store.read { try $0.challenges.find(asked.challenge.id)?.state.status.state }
        #expect(state == (results[1] == "approved" ? "approved" : "pending"))
    }
}
