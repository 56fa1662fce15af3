import CountersignStorage
import CountersignWire
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("What is over is kept as long as the operator says, and then deleted in batches")
struct RetentionTests {
    private static let day: Int64 = 86_400

    private struct Scene: Sendable {
        let world: World
        let shop: Client
        let user: UserID
        let device: TestDevice

        init() async throws {
            world = try await World()
            try await world.makeType()
            shop = try await world.makeClient(waives: true).client
            user = try await world.makeUser("customer-1", of: shop)
            device = try await world.makeDevice(of: user, by: shop)
        }

        func ask() async throws -> AskedChallenge {
            try await world.ask(try world.request(for: user), by: shop)
        }

        /// A challenge that was denied, which leaves a receipt.
        func denied() async throws -> AskedChallenge {
            let asked = try await ask()
            _ = try await device.answer(asked, .denied)
            return asked
        }

        func sweep(_ change: (inout Retention) -> Void) async throws -> Int {
            var retention = Retention()
            (retention.challenges, retention.receipts, retention.audit) = (.forever, .forever, .forever)
            change(&retention)
            return try await SweepKept.sweep(retention, ports: world.ports)
        }

        func receipt(_ asked: AskedChallenge, of client: Client? = nil) async throws -> ShowReceipt.Outcome {
            try await ShowReceipt.receipt(of: asked.challenge.id, to: (client ?? shop).id, ports: world.ports)
        }
    }

    @Test("A challenge goes so many days after its end, and not a second earlier; one that is open stays")
    func challenges() async throws {
        let scene = try await Scene()
        let old = try await scene.denied()
        scene.world.time.advance(seconds: 7 * Self.day)
        let open = try await scene.ask()
        #expect(try await scene.sweep { $0.challenges = .days(7) } == 0)
        scene.world.time.advance(seconds: 1)
        #expect(try await scene.sweep { $0.challenges = .days(7) } == 1)
        let left = try await scene.world.store.read { reader in
            (try reader.challenges.find(old.challenge.id) == nil, try reader.challenges.find(open.challenge.id) != nil)
        }
        #expect(left.0 && left.1)
        #expect(try await scene.world.count("challenge_targets") == 1, "whom it was put to goes with it")
        guard case .decided = try await scene.device.answer(open, .denied) else { throw World.Broken("answer") }
    }

    @Test("One that nobody has ended yet is not swept, however old: it expires first")
    func notExpired() async throws {
        let scene = try await Scene()
        let asked = try await scene.ask()
        scene.world.time.advance(seconds: 100 * Self.day)
        #expect(try await scene.sweep { $0.challenges = .days(7) } == 0)
        #expect(try await ExpireChallenges.sweep(ports: scene.world.ports) == 1)
        #expect(try await scene.sweep { $0.challenges = .days(7) } == 0, "the days count from its end")
        let state = try await scene.world.store.read {
            try $0.challenges.find(asked.challenge.id)?.state.status.state
        }
        #expect(state == "expired")
    }

    @Test("A receipt outlives its challenge for the client that asked, and for no other")
    func receiptAlone() async throws {
        let scene = try await Scene()
        let rival = try await scene.world.makeClient("Rival").client
        let asked = try await scene.denied()
        let challenge = try await scene.world.challenge(asked)
        guard case .receipt(let before) = try await scene.receipt(asked) else { throw World.Broken("receipt") }
        scene.world.time.advance(seconds: 8 * Self.day)
        #expect(try await scene.sweep { $0.challenges = .days(7) } == 1)
        guard case .receipt(let after) = try await scene.receipt(asked) else { throw World.Broken("receipt") }
        guard case .receipt(let one, let first) = before.evidence, case .receipt(let two, let second) = after.evidence
        else { return }
        #expect(one.encoded == two.encoded && first == second)
        guard case .challengeNotFound = try await scene.receipt(asked, of: rival) else {
            throw World.Broken("another client's receipt was shown")
        }
        let answer = try await scene.device.answer(
            asked.challenge.id, with: try await scene.device.receipt(of: challenge, .denied))
        guard case .notFound = answer else { throw World.Broken("\(answer)") }
    }

    @Test("A receipt goes so many days after it was accepted; its challenge then has none")
    func receipts() async throws {
        let scene = try await Scene()
        let old = try await scene.denied()
        scene.world.time.advance(seconds: Self.day)
        let young = try await scene.denied()
        #expect(try await scene.sweep { $0.receipts = .days(1) } == 0)
        scene.world.time.advance(seconds: 1)
        #expect(try await scene.sweep { $0.receipts = .days(1) } == 1)
        guard case .none = try await scene.receipt(old) else { throw World.Broken("receipt") }
        guard case .receipt = try await scene.receipt(young) else { throw World.Broken("no receipt") }
        scene.world.time.advance(seconds: 8 * Self.day)
        #expect(try await scene.sweep { ($0.challenges, $0.receipts) = (.days(7), .days(7)) } == 3)
        guard case .challengeNotFound = try await scene.receipt(young) else { throw World.Broken("receipt") }
    }

    @Test("The audit loses its oldest events, and a reader's place in it still holds")
    func audit() async throws {
        let scene = try await Scene()
        _ = try await scene.denied()
        let before = try await scene.world.store.read { try $0.audit.list(after: 0, limit: 1000) }
        scene.world.time.advance(seconds: 30 * Self.day + 1)
        _ = try await scene.ask()
        #expect(try await scene.sweep { $0.audit = .days(30) } == before.count)
        let sequence = try #require(before.last?.sequence)
        let after = try await scene.world.store.read { try $0.audit.list(after: sequence, limit: 1000) }
        #expect(after.map(\.event.kind) == [.challengeAsked])
        #expect(try await scene.world.store.read { try $0.audit.list(after: 0, limit: 1000).count } == after.count)
    }

    @Test("For ever is for ever")
    func forever() async throws {
        let scene = try await Scene()
        _ = try await scene.denied()
        scene.world.time.advance(seconds: 100 * 365 * Self.day)
        #expect(try await scene.sweep { _ in } == 0)
        #expect(try await scene.world.count("receipts") == 1)
    }

    @Test("More than a batch goes in one sweep, by two servers at once")
    func batches() async throws {
        let scene = try await Scene()
        let count = 2 * SweepKept.batch + 1
        let events = (0..<count).map { _ in
            AuditEvent(id: scene.world.newID(), at: scene.world.time.now, kind: .messageRetried, actor: .system)
        }
        try await scene.world.store.commit { writer in for event in events { try writer.audit.append(event) } }
        scene.world.time.advance(seconds: 2 * Self.day)
        var retention = Retention()
        retention.audit = .days(1)
        let other = try await scene.world.reopened()
        let swept = try await atOnce(2) { [retention] number in
            try await SweepKept.sweep(retention, ports: number == 0 ? scene.world.ports : other.ports)
        }
        #expect(swept.reduce(0, +) >= count)
        #expect(try await scene.world.count("audit") == 0)
    }

    @Test("Of an answer and a sweep at the same time neither takes the other's: what is open is answered")
    func sweptWhileAnswered() async throws {
        let scene = try await Scene()
        for _ in 0..<5 {
            let asked = try await scene.ask()
            _ = try await atOnce(2) { number in
                if number == 0 {
                    guard case .decided = try await scene.device.answer(asked, .denied) else {
                        throw World.Broken("answer")
                    }
                } else {
                    // What ends now is old at once: the widest a sweep can be.
                    let later = scene.world.time.now.adding(seconds: 1)
                    _ = try await scene.world.store.commit {
                        try $0.retention.deleteChallenges(endedBefore: later, limit: 10)
                    }
                }
            }
            guard case .receipt = try await scene.receipt(asked) else { throw World.Broken("no receipt") }
        }
    }
}
