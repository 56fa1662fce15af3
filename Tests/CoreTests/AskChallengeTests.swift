import CountersignCore
import CountersignWire
import StorageTestSupport
import Testing

@Suite("Asking, on a real store")
struct AskChallengeTests {
    private func refusal(
        _ request: AskChallenge.Request, by client: Client, in world: World
    ) async throws -> AskChallenge.Refusal? {
        let result = try await AskChallenge.ask(request, by: client.credential, idempotency: nil, ports: world.ports)
        guard case .done(.refused(let refusal)) = result else { return nil }
        return refusal
    }

    @Test("Whom a client is not linked to does not exist for it, nor does a type nobody made")
    func unknown() async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient().client
        let rival = try await world.makeClient("Rival").client
        let user = try await world.makeUser("customer-1", of: shop)
        _ = try await world.makeDevice(of: user, by: shop)
        #expect(try await refusal(try world.request(for: user), by: rival, in: world) == .userNotFound)
        var request = try world.request(for: user)
        request.user = .externalID(try ExternalID("customer-1"))
        #expect(try await refusal(request, by: rival, in: world) == .userNotFound)
        #expect(try await refusal(request, by: shop, in: world) == nil)
        request.user = .externalID(try ExternalID("Customer-1"))
        #expect(try await refusal(request, by: shop, in: world) == .userNotFound)
        #expect(
            try await refusal(try world.request(for: user, type: "unheard-of"), by: shop, in: world) == .typeNotFound)
    }

    @Test("A device of another user and a removed device cannot be named, and a user of removed ones is not asked")
    func devices() async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let second = try await world.makeDevice(of: user, by: shop)
        let stranger = try await world.makeDevice(of: try await world.makeUser(of: shop), by: shop)
        var request = try world.request(for: user)
        request.enrollments = [stranger.enrollment]
        #expect(
            try await refusal(request, by: shop, in: world) == .enrollmentNotFound(stranger.enrollment))
        #expect(
            try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
                == .removed)
        request.enrollments = [device.enrollment]
        #expect(try await refusal(request, by: shop, in: world) == .enrollmentNotFound(device.enrollment))
        #expect(try await world.ask(try world.request(for: user), by: shop).enrollments == [second.enrollment])
        #expect(
            try await RemoveEnrollment.remove(second.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
                == .removed)
        #expect(try await refusal(try world.request(for: user), by: shop, in: world) == .noEnrollment)
    }

    @Test("A refused ask leaves nothing behind")
    func refusedLeavesNothing() async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let before = try await world.audit().count
        #expect(try await refusal(try world.request(for: user), by: shop, in: world) == .noEnrollment)
        for table in ["challenges", "challenge_targets", "outbox", "replies"] {
            #expect(try await world.count(table) == 0)
        }
        #expect(try await world.audit().count == before)
    }

    @Test("Of many asks at once as many succeed as the type allows")
    func limitUnderConcurrency() async throws {
        let world = try await World()
        try await world.makeType(maximumPending: 3)
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        _ = try await world.makeDevice(of: user, by: shop)
        let request = try world.request(for: user)
        let refusals = try await withThrowingTaskGroup(of: AskChallenge.Refusal?.self) { group in
            for _ in 0..<20 { group.addTask { try await refusal(request, by: shop, in: world) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(refusals.filter { $0 == nil }.count == 3)
        #expect(refusals.filter { $0 == .tooManyPending }.count == 17)
        #expect(try await world.count("challenges") == 3)
    }

    @Test("A challenge counts as open until the millisecond it expires, and for its own client alone")
    func openUntilExpiry() async throws {
        let world = try await World()
        try await world.makeType(lifetime: 120, maximumPending: 1)
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        _ = try await world.makeDevice(of: user, by: shop)
        let request = try world.request(for: user)
        _ = try await world.ask(request, by: shop)
        world.time.advance(milliseconds: 119_999)
        #expect(try await refusal(request, by: shop, in: world) == .tooManyPending)
        world.time.advance(milliseconds: 1)
        #expect(try await refusal(request, by: shop, in: world) == nil)
    }

    @Test("The pause a refusal names is exactly long enough, and an approval ends it")
    func askLimit() async throws {
        let world = try await World()
        try await world.makeType(lifetime: 10, maximumAsks: 2)
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let request = try world.request(for: user)
        _ = try await world.ask(request, by: shop)
        world.time.advance(seconds: 100)
        let second = try await world.ask(request, by: shop)
        world.time.advance(seconds: 1)
        #expect(try await refusal(request, by: shop, in: world) == .tooManyAsks(retryAfter: 3499))
        _ = try await device.answer(second, .approved(.confirm, number: second.number))
        #expect(try await refusal(request, by: shop, in: world) == nil)
        world.time.advance(seconds: 11)
        #expect(try await refusal(request, by: shop, in: world) == nil)
        world.time.advance(seconds: 11)
        #expect(try await refusal(request, by: shop, in: world) == .tooManyAsks(retryAfter: 3578))
        world.time.advance(milliseconds: 3578 * 1000 - 1)
        #expect(try await refusal(request, by: shop, in: world) == .tooManyAsks(retryAfter: 1))
        world.time.advance(milliseconds: 1)
        #expect(try await refusal(request, by: shop, in: world) == nil)
    }
}
