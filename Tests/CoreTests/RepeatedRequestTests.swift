import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A repeat gets the first outcome, whatever has become since of what it speaks of.
@Suite("What a repeat of a request gets")
struct RepeatedRequestTests {
    /// What becomes of a challenge after it was asked.
    enum Change: CaseIterable {
        case answered
        case cancelled
        case expired
        case erased
        case typeChanged
    }

    private func key(_ digest: UInt8 = 1) throws -> IdempotencyKey {
        try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: [digest]))
    }

    @Test("A challenge is shown as it was asked", arguments: Engine.allCases, Change.allCases)
    func challenges(_ engine: Engine, _ change: Change) async throws {
        let world = try await World(engine)
        let ports = world.ports
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        var request = try world.request(for: user)
        request.clientState = "order 4711"
        func ask(_ key: IdempotencyKey) async throws -> Replayable<AskChallenge.Outcome> {
            try await AskChallenge.ask(request, by: shop.credential, idempotency: key, ports: ports)
        }
        guard case .done(.asked(let asked)) = try await ask(try key()) else { throw World.Broken("challenge") }
        #expect(asked.number != nil && asked.enrollments == [device.enrollment])
        #expect(asked.challenge.state == .pending && asked.challenge.clientState == "order 4711")
        switch change {
        case .answered:
            try await device.open(asked.challenge.id)
            guard case .decided = try await device.answer(asked, .approved(.confirm, number: asked.number)) else {
                throw World.Broken("answer")
            }
        case .cancelled: _ = try await CancelChallenge.cancel(asked.challenge.id, by: shop.caller, ports: ports)
        case .expired:
            world.time.advance(seconds: 121)
            #expect(try await ExpireChallenges.sweep(ports: ports) == 1)
        case .erased: #expect(try await UnlinkUser.unlink(.id(user), from: shop.caller, ports: ports) == .unlinked)
        case .typeChanged: try await world.makeType(lifetime: 60, numberEntry: false, methods: [.pin])
        }
        #expect(try await world.challenge(asked).state.isEnded == (change != .typeChanged))
        #expect(try await ask(try key()) == .replayed(.asked(asked)))
        #expect(try await ask(try key(2)) == .conflict)
        #expect(try await world.count("challenges") == 1)
    }

    @Test("A code is the first one, also when it has ceased to work", arguments: Engine.allCases)
    func codes(_ engine: Engine) async throws {
        let world = try await World(engine)
        try await world.makeType("scan", numberEntry: false, channel: .code)
        let shop = try await world.makeClient().client
        let request = try world.request(for: nil, type: "scan")
        let first = try await AskChallenge.ask(request, by: shop.credential, idempotency: try key(), ports: world.ports)
        guard case .done(.asked(let asked)) = first else { throw World.Broken("challenge") }
        #expect(asked.code?.isLink == false && asked.number == nil && asked.enrollments.isEmpty)
        world.time.advance(seconds: 3600)
        _ = try await ExpireChallenges.sweep(ports: world.ports)
        let again = try await AskChallenge.ask(request, by: shop.credential, idempotency: try key(), ports: world.ports)
        #expect(again == .replayed(.asked(asked)))
    }

    @Test("A client is as it was made, also when it is deleted, and its secrets the first", arguments: Engine.allCases)
    func clients(_ engine: Engine) async throws {
        let world = try await World(engine)
        let ports = world.ports
        let caller = try await world.makeClient().client
        let request = CreateClient.Request(
            name: try ClientName("Rival"), rights: [.users], callbackURIs: [CallbackURI(stored: World.callback)],
            basic: BasicCredentials(username: "acme", password: Secret("a password")), waivesEnrollmentApproval: true)
        let first = try await CreateClient.create(request, by: .system, idempotency: try key(), ports: ports)
        guard case .done(.created(let created)) = first else { throw World.Broken("client") }
        #expect(created.client.callbackUsername == "acme")
        let id = created.client.id
        let secretKey = try #require(IdempotencyKey(scope: "secret", key: "k", requestDigest: [1]))
        let callbackKey = try #require(IdempotencyKey(scope: "callback", key: "k", requestDigest: [1]))
        func renew() async throws -> (Replayable<RenewClientSecret.Outcome>, Replayable<RenewCallbackSecret.Outcome>) {
            (
                try await RenewClientSecret.renew(of: id, by: caller.actor, idempotency: secretKey, ports: ports),
                try await RenewCallbackSecret.renew(of: id, by: caller.actor, idempotency: callbackKey, ports: ports)
            )
        }
        let renewed = try await renew()
        guard case (.done(.renewed(let secret)), .done(.renewed(let callbackSecret))) = renewed else {
            throw World.Broken("secrets")
        }
        _ = try await DeleteClient.delete(id, by: caller.actor, ports: ports)
        #expect(
            try await CreateClient.create(request, by: .system, idempotency: try key(), ports: ports)
                == .replayed(.created(created))
        )
        let again = try await renew()
        #expect(again.0 == .replayed(.renewed(secret)))
        #expect(again.1 == .replayed(.renewed(callbackSecret)))
    }

    @Test("A user is as they were made, and a ticket the first, also when both are gone", arguments: Engine.allCases)
    func users(_ engine: Engine) async throws {
        let world = try await World(engine)
        let ports = world.ports
        let shop = try await world.makeClient().client
        let name = try ExternalID("customer-1")
        func create() async throws -> Replayable<CreateUser.Outcome> {
            try await CreateUser.create(externalID: name, by: shop.caller, idempotency: try key(), ports: ports)
        }
        guard case .done(.created(let user)) = try await create() else { throw World.Broken("user") }
        let ticketKey = try #require(IdempotencyKey(scope: "ticket", key: "k", requestDigest: [1]))
        func ticket() async throws -> Replayable<CreateTicket.Outcome> {
            try await CreateTicket.create(for: .id(user.id), by: shop.caller, idempotency: ticketKey, ports: ports)
        }
        guard case .done(.created(let made)) = try await ticket() else { throw World.Broken("ticket") }
        #expect(try await UnlinkUser.unlink(.id(user.id), from: shop.caller, ports: ports) == .unlinked)
        #expect(try await create() == .replayed(.created(user)))
        #expect(try await ticket() == .replayed(.created(made)))
        #expect(try await TestDevice(made.invitation, in: world).enroll().summary == "ticket invalid")
    }
}
