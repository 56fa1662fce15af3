import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@Suite("A challenge ends once, however many try at the same time")
struct FinalStateTests {
    /// Ports that live at another moment over the same store.
    private func ports(of world: World, at time: Timestamp) -> Ports {
        Ports(
            issuer: world.ports.issuer, store: world.store, changes: world.hub, time: ScriptedTime(time),
            clock: ContinuousClock(),
            random: world.random, hasher: world.ports.hasher, keys: world.ports.keys, hooks: world.hooks,
            logger: world.ports.logger)
    }

    private enum Try: Sendable {
        case approve(DeviceCall, [UInt8])
        case deny(DeviceCall, [UInt8])
        case cancel
        case expire
    }

    /// What came of a try: the state it made, or the one that it was told another had made.
    private enum Result: Sendable {
        case won(String)
        case lost(to: String)
    }

    private func carryOut(
        _ attempt: Try, _ id: ChallengeID, of client: Client, before: Ports, after: Ports
    ) async throws -> Result? {
        switch attempt {
        case .approve(let call, let message), .deny(let call, let message):
            switch try await AnswerChallenge.answer(AnswerRequest(message: message), to: id, by: call, ports: before) {
            case .decided(let reply): return .won(reply.status.state)
            case .alreadyEnded(let status): return .lost(to: status.state)
            default:
                throw World.Broken("an answer went wrong")
            }
        case .cancel:
            switch try await CancelChallenge.cancel(id, by: client.caller, ports: before) {
            case .cancelled: return .won("cancelled")
            case .alreadyEnded(let status): return .lost(to: status.state)
            case .notFound: throw World.Broken("the challenge is gone")
            }
        case .expire:
            try await ExpireChallenges.sweep(ports: after)
            return nil
        }
    }

    @Test(
        "Of 50 approvals, denials, cancellations and expiries at once exactly one counts",
        arguments: Engine.allCases, 0..<8)
    func race(_ engine: Engine, _ round: Int) async throws {
        let world = try await World(engine, seed: UInt64(round))
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        var request = try world.request(for: user)
        request.callbackURI = CallbackURI(stored: World.callback)
        let asked = try await world.ask(request, by: shop)
        let id = asked.challenge.id
        try await device.open(id)
        world.time.advance(milliseconds: 119_999)
        let before = ports(of: world, at: world.time.now)
        let after = ports(of: world, at: asked.challenge.expiresAt)
        var tries: [Try] = []
        for number in 0..<50 {
            switch (number + round) % 4 {
            case 0:
                let decision = Decision.approved(.confirm, number: asked.number)
                tries.append(
                    .approve(try await device.call(), try await device.receipt(of: asked, decision)))
            case 1: tries.append(.deny(try await device.call(), try await device.receipt(of: asked, .denied)))
            case 2: tries.append(.cancel)
            default: tries.append(.expire)
            }
        }
        let all = tries
        let results = try await atOnce(all.count) { number in
            try await carryOut(all[number], id, of: shop, before: before, after: after)
        }.compactMap { $0 }
        let winners = results.compactMap { if case .won(let state) = $0 { state } else { nil } }
        let told = Set<String>(results.compactMap { if case .lost(let state) = $0 { state } else { nil } })
        let state = try #require(try await world.store.read { try $0.challenges.find(id) }).state.status.state
        #expect(winners == (state == "expired" ? [] : [state]), "told to win: \(winners), won: \(state)")
        #expect(told == [state], "who loses is told who won")
        #expect(["approved", "denied", "cancelled", "expired"].contains(state))
        #expect(try await world.count("receipts") == (state == "approved" || state == "denied" ? 1 : 0))
        #expect(try await world.count("outbox") == 1)
        let ends = try await world.audit().filter {
            $0.challenge == id && ![.challengeAsked, .challengeFetched].contains($0.kind)
        }
        #expect(ends.map(\.kind.rawValue) == ["challenge.\(state)"])
        let leased = try await world.store.lease(
            limit: 10, now: asked.challenge.expiresAt, until: asked.challenge.expiresAt.adding(seconds: 1))
        guard case .callback(_, _, let body)? = leased.first?.message.content else {
            Issue.record("no callback")
            return
        }
        #expect(try JSONValue(parsing: body)["challenge"]?["state"]?.string == state, "the callback tells the same")
    }

    /// A question that was opened, and a right approval of it that nobody has sent.
    private func approval(
        in world: World
    ) async throws -> (shop: Client, user: UserID, device: TestDevice, asked: AskedChallenge, message: [UInt8]) {
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let asked = try await world.ask(try world.request(for: user), by: shop)
        try await device.open(asked.challenge.id)
        let decision = Decision.approved(.confirm, number: asked.number)
        let message = try await device.receipt(of: asked, decision)
        return (shop, user, device, asked, message)
    }

    @Test("The same answer sent 30 times at once decides once, and every copy is told so", arguments: Engine.allCases)
    func sameAnswer(_ engine: Engine) async throws {
        let world = try await World(engine)
        let (_, _, device, asked, message) = try await approval(in: world)
        let states = try await atOnce(30) { _ -> String in
            guard case .decided(let reply) = try await device.answer(asked.challenge.id, with: message) else {
                return "refused"
            }
            return reply.status.state
        }
        #expect(states == [String](repeating: "approved", count: 30))
        #expect(try await world.count("receipts") == 1)
        #expect(try await world.count("answers") == 1)
    }

    @Test("Removal and approval at once: either is whole", arguments: Engine.allCases, 0..<6)
    func removal(_ engine: Engine, _ round: Int) async throws {
        let world = try await World(engine, seed: UInt64(round))
        let (shop, user, device, asked, message) = try await approval(in: world)
        let call = try await device.call()
        let results = try await atOnce(2) { number -> String in
            if number == round % 2 {
                _ = try await RemoveEnrollment.remove(
                    device.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
                return "removed"
            }
            let request = AnswerRequest(message: message)
            switch try await AnswerChallenge.answer(request, to: asked.challenge.id, by: call, ports: world.ports) {
            case .decided(let reply): return reply.status.state
            case .refused(.deregistered): return "deregistered"
            default:
                return "unexpected"
            }
        }
        let state = try await world.store.read { try $0.challenges.find(asked.challenge.id)?.state.status.state }
        #expect(Set(results) == (state == "approved" ? ["removed", "approved"] : ["removed", "deregistered"]))
        #expect(state == "approved" || state == "failed")
        #expect(try await world.count("receipts") == (state == "approved" ? 1 : 0))
    }
}
