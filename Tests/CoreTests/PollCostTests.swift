import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignCore

/// What is read of a sign-in that a device or a client's server asks for, so that it is not read more often again.
///
/// On PostgreSQL the rows of the client, and of its settings, are locked where something is given; that is counted alike.
@Suite("What a poll costs: it writes nothing")
struct PollCostTests {
    /// How often rows are read, and in how many transactions.
    private struct Cost: Hashable {
        /// The client without its settings.
        var client = 0
        /// Both in one statement.
        var clientWithSettings = 0
        var settings = 0
        var signIn = 0
        var reads = 0
        var writes = 0
    }

    private let world: World
    private let recorder: RecordingEngine
    private let shop: SignInScene

    init() async throws {
        (world, recorder) = try await World.recorded()
        shop = try await SignInScene(in: world, profile: .web)
        let party = RelyingParty(
            client: shop.shop.id, profile: .web, redirectURIs: [], deviceGrant: .byCode,
            backchannel: RelyingParty.Backchannel(delivery: .poll))
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
    }

    private func ask() async throws -> BeginBackchannel.Begun {
        var request = BeginBackchannel.Request(by: shop.shop.id, for: .name("customer-1@example.com"))
        request.scopes = ["openid"]
        return try await shop.begin(request)
    }

    /// Begins both kinds of sign-in.
    private func begun() async throws -> [RedeemDecision.Way] {
        let asked = try await ask()
        let device = BeginDeviceGrant.Request(by: shop.shop.id, isAuthenticated: true)
        guard case .begun(let shown) = try await BeginDeviceGrant.begin(device, ports: world.ports) else {
            throw World.Broken("device")
        }
        return [.authRequest(asked.authRequestID), .deviceCode(shown.deviceCode)]
    }

    /// What ran since the last call.
    private func cost() -> Cost {
        let texts = recorder.takeTexts().map { $0.replacing("\n", with: " ") }
        func count(_ table: String) -> Int { texts.count { $0.contains("\(table) = $1") } }
        let total = recorder.takeCost()
        return Cost(
            client: count("FROM clients WHERE id"),
            clientWithSettings: count("JOIN relying_parties p ON p.client_id = c.id WHERE c.id"),
            settings: count("FROM relying_parties WHERE client_id"), signIn: count("FROM authorizations WHERE id"),
            reads: total.reads, writes: total.writes)
    }

    // Spec: RFC 8628 §3.5; CIBA Core 1.0 §11.
    @Test("A poll that finds nothing reads one row besides its client's, and so does one that is too fast")
    func polls() async throws {
        for way in try await begun() {
            let request = try await shop.redemption(way)
            let polls: [(pause: Int64, outcome: RedeemDecision.Outcome)] = [
                (0, .pending(interval: 5)), (0, .slowDown(interval: 10)), (10, .pending(interval: 10)),
            ]
            for poll in polls {
                world.time.advance(seconds: poll.pause)
                _ = recorder.takeCost()
                #expect(try await RedeemDecision.redeem(request, ports: world.ports) == poll.outcome)
                let cost = recorder.takeCost()
                #expect(cost.writes == 0 && cost.reads == 1 && cost.statements == 1, "\(cost)")
            }
        }
    }

    // Spec: RFC 7240 §4.3.
    @Test("A poll that is held makes one statement before it waits, and two where it is told that nobody has decided")
    func held() async throws {
        for way in try await begun() {
            let request = try await shop.redemption(way)
            _ = recorder.takeCost()
            let wait = try await shop.waiting(request, changes: Meanwhile {})
            let first = recorder.takeCost()
            #expect(first.writes == 0 && first.reads == 1 && first.statements == 1, "\(first)")
            let outcome = try await wait.outcome(until: world.time.now, ports: world.ports)
            #expect(outcome == .pending(interval: 5))
            let last = recorder.takeCost()
            #expect(last.writes == 0 && last.reads == 1 && last.statements == 2, "\(last)")
        }
    }

    // Spec: RFC 7240 §4.3.
    @Test("A poll that is told of something else than a decision gives nothing, and waits on")
    func toldOfNothing() async throws {
        let begun = try await ask()
        let deadline = world.time.now.adding(seconds: 20)
        let changes = Meanwhile { [world] in world.time.advance(seconds: 10) }
        let wait = try await shop.waiting(
            try await shop.redemption(.authRequest(begun.authRequestID)), changes: changes)
        _ = cost()
        #expect(try await wait.outcome(until: deadline, ports: world.ports) == .pending(interval: 5))
        // What would give the tokens, and a look after it; and a look at the end.
        #expect(cost() == Cost(clientWithSettings: 2, signIn: 3, reads: 2, writes: 1))
    }

    // Spec: CIBA Core 1.0 §7, §10.1.
    @Test("A sign-in by a held poll: its client, the client's settings and the sign-in are read as often as is needed")
    func cycle() async throws {
        // A device that has called before, which is the usual case.
        _ = try await ShowOwnEnrollment.show(to: try await shop.device.call(), ports: world.ports)
        _ = cost()
        let begun = try await ask()
        #expect(cost() == Cost(clientWithSettings: 1, writes: 1))

        let asked = try await shop.signIn(begun)
        _ = cost()
        try await shop.put(asked)
        #expect(cost() == Cost(clientWithSettings: 1, signIn: 1, writes: 1))

        let redemption = try await shop.redemption(.authRequest(begun.authRequestID))
        _ = cost()
        let wait = try await shop.waiting(redemption, changes: Meanwhile {})
        #expect(cost() == Cost(signIn: 1, reads: 1))

        let id = try #require(asked.ask?.challenge)
        let challenge = try #require(try await world.store.read { try $0.challenges.find(id) })
        let receipt = try await shop.device.receipt(of: challenge, .approved(.confirm, number: begun.number))
        _ = cost()
        guard case .decided = try await shop.device.answer(id, with: receipt) else { throw World.Broken("answer") }
        #expect(cost() == Cost(client: 1, signIn: 1, reads: 1, writes: 1))

        guard case .redeemed = try await wait.outcome(until: world.time.now.adding(30), ports: world.ports)
        else { throw World.Broken("tokens") }
        // By what the tokens are given, and no look before it.
        #expect(cost() == Cost(clientWithSettings: 1, signIn: 1, writes: 1))
    }
}
