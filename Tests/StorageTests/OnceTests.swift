import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@Suite("What is good once is spent once, however many try at the same time")
struct OnceTests {
    @Test("Of 50 requests with one nonce one is let in", arguments: Engine.allCases)
    func nonces(_ engine: Engine) async throws {
        let world = try await World(engine)
        let spent = try await atOnce(50) { _ in
            try await world.store.commit {
                try $0.nonces.spend(nonce: "n", of: "k", until: world.time.now.adding(seconds: 60))
            }
        }
        #expect(spent.filter { $0 }.count == 1)
        let others = try await world.store.commit { writer in
            try [("n", "K"), ("N", "k"), ("n", "k")].map {
                try writer.nonces.spend(nonce: $0.0, of: $0.1, until: world.time.now)
            }
        }
        #expect(others == [true, true, false])
    }

    @Test("The same captured call 50 times at once is answered once", arguments: Engine.allCases)
    func replays(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient().client
        let device = try await world.makeDevice(of: try await world.makeUser(of: shop), by: shop)
        let call = try await device.call()
        let answers = try await atOnce(50) { _ -> String in
            switch try await ShowOwnEnrollment.show(to: call, ports: world.ports) {
            case .enrollment: return "answered"
            case .refused(.nonceReplayed): return "replayed"
            case .refused: return "refused"
            }
        }
        #expect(answers.filter { $0 == "answered" }.count == 1)
        #expect(answers.filter { $0 == "replayed" }.count == 49)
    }

    @Test("Of 50 spendings of a ticket one succeeds, and its time stays", arguments: Engine.allCases)
    func tickets(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient().client
        let invitation = try await world.makeTicket(for: try await world.makeUser(of: shop), by: shop)
        let hash = SecretHash(of: invitation.ticket)
        let start = world.time.now
        let spent = try await atOnce(50) { number in
            try await world.store.commit { try $0.tickets.spend(hash, at: start.adding(seconds: Int64(number))) }
        }
        let winner = try #require(spent.firstIndex(of: true))
        #expect(spent.filter { $0 }.count == 1)
        #expect(
            try await world.store.read { try $0.tickets.find(hash)?.spentAt } == start.adding(seconds: Int64(winner)))
        #expect(try await world.store.commit { try !$0.tickets.spend(SecretHash(of: Secret("unknown")), at: start) })
    }

    @Test("Of 20 devices with one ticket one is enrolled", arguments: Engine.allCases)
    func devices(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient(waives: true).client
        let invitation = try await world.makeTicket(for: try await world.makeUser(of: shop), by: shop)
        let outcomes = try await atOnce(20) { _ -> String in
            switch try await TestDevice(invitation, in: world).enroll() {
            case .enrolled: return "enrolled"
            case .ticketUsed: return "used"
            default: return "unexpected"
            }
        }
        #expect(outcomes.filter { $0 == "enrolled" }.count == 1)
        #expect(outcomes.filter { $0 == "used" }.count == 19)
        #expect(try await world.count("enrollments") == 1)
    }

    @Test("50 requests under one idempotency key are one, and all get its reply", arguments: Engine.allCases)
    func idempotency(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient().client
        let key = try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: [1]))
        let replies = try await atOnce(50) { _ -> (text: String, isFirst: Bool) in
            let result = try await CreateUser.create(
                externalID: nil, by: shop.caller, idempotency: key, ports: world.ports
            )
            switch result {
            case .done(.created(let user)): return ("\(user)", true)
            case .replayed(.created(let user)): return ("\(user)", false)
            case .done, .replayed, .conflict: return ("unexpected", false)
            }
        }
        #expect(Set(replies.map(\.text)).count == 1)
        #expect(replies.filter(\.isFirst).count == 1)
        #expect(try await world.count("users") == 1)
    }

    @Test("One external id given to 30 users at once names one of them", arguments: Engine.allCases)
    func externalIDs(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient().client
        let name = try ExternalID("customer-1")
        let outcomes = try await atOnce(30) { _ -> String in
            let result = try await CreateUser.create(
                externalID: name, by: shop.caller, idempotency: nil, ports: world.ports
            )
            switch result {
            case .done(.created): return "made"
            case .done(.externalIDTaken): return "taken"
            default: return "unexpected"
            }
        }
        #expect(outcomes.filter { $0 == "made" }.count == 1)
        #expect(outcomes.filter { $0 == "taken" }.count == 29)
        #expect(try await world.count("users") == 1)
    }

    @Test("Attempts are counted one by one under concurrency", arguments: Engine.allCases)
    func attempts(_ engine: Engine) async throws {
        let world = try await World(engine)
        let counts = try await atOnce(50) { _ in
            try await world.store.commit { try $0.attempts.count("a", window: 60, at: world.time.now).number }
        }
        #expect(counts.sorted() == Array(1...50))
    }
}
