import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@Suite("What is left of a client that is disabled or deleted")
struct ClientStateTests {
    private func renew(_ client: Client, overlap: Seconds, in world: World) async throws -> Secret<String> {
        let result = try await RenewClientSecret.renew(
            of: client.id, overlap: overlap, by: client.actor, ports: world.ports)
        guard case .done(.renewed(let renewed)) = result else { throw World.Broken("secret") }
        return renewed.secret
    }

    private func isLetIn(_ client: Client, by secret: Secret<String>, in world: World) async throws -> Bool {
        try await AuthenticateClient.authenticate("\(client.id)", secret: secret, ports: world.ports) != .refused
    }

    @Test("The earlier secret works until the millisecond the overlap ends, and with no overlap not at all")
    func overlap() async throws {
        let world = try await World()
        let created = try await world.makeClient()
        let second = try await renew(created.client, overlap: 60, in: world)
        world.time.advance(seconds: 59)
        #expect(try await isLetIn(created.client, by: created.secret, in: world))
        world.time.advance(seconds: 1)
        #expect(try await !isLetIn(created.client, by: created.secret, in: world))
        let third = try await renew(created.client, overlap: 0, in: world)
        #expect(try await !isLetIn(created.client, by: second, in: world))
        #expect(try await isLetIn(created.client, by: third, in: world))
        for secret in [created.secret, second, third] {
            #expect(try await world.audit().allSatisfy { !JSONValue.object($0.detail).text.contains(secret.reveal()) })
        }
    }

    @Test("Who was let in before the client was disabled asks nothing after: no question is left that nobody cancels")
    func askedAtOnce() async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        _ = try await world.makeDevice(of: user, by: shop)
        let request = try world.request(for: user)
        _ = try await world.ask(request, by: shop)
        let ports = world.ports
        let results = try await atOnce(8) { number in
            if number == 3 {
                _ = try await DisableClient.disable(shop.id, by: shop.actor, ports: ports)
                return "disabled"
            }
            let result = try await AskChallenge.ask(request, by: shop.credential, idempotency: nil, ports: ports)
            guard case .done(let outcome) = result else { return "replayed" }
            switch outcome {
            case .asked: return "asked"
            case .refused(let refusal): return "\(refusal)"
            }
        }
        #expect(
            results.allSatisfy {
                ["disabled", "asked", "caller(CountersignCore.CallerRefusal.disabled)"].contains($0)
            }, "\(results)")
        #expect(try await world.count("challenges", where: "state = 'pending'") == 0)
        let late = try await AskChallenge.ask(request, by: shop.credential, idempotency: nil, ports: ports)
        guard case .done(.refused(.caller(.disabled))) = late else { throw World.Broken("\(late)") }
    }

    @Test("More than one batch of questions is cancelled, but not whether a new device is let in")
    func manyQuestions() async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        _ = try await world.makeDevice(of: user, by: shop)
        _ = try await world.makeDevice(of: user, by: shop)
        for _ in 0..<201 { _ = try await world.ask(try world.request(for: user), by: shop) }
        let waiting = "purpose = 'new_device' AND state = 'pending'"
        #expect(try await world.count("challenges", where: waiting) == 1)
        guard
            case .disabled(let disabled) = try await DisableClient.disable(shop.id, by: shop.actor, ports: world.ports)
        else {
            throw World.Broken("disabled")
        }
        #expect(disabled.disabledAt == world.time.now)
        #expect(try await world.count("challenges", where: "state = 'pending'") == 1)
        #expect(try await world.count("challenges", where: waiting) == 1)
    }

    @Test(
        "A deleted client is cleared in batches, again after a stop in between: users of others stay, with their devices"
    )
    func deletedInBatches() async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient().client
        let bank = try await world.makeClient("Bank").client
        var alone: [UserID] = []
        for _ in 0..<60 { alone.append(try await world.makeUser(of: shop)) }
        let shared = try await world.makeUser(of: shop)
        _ = try await world.ports.store.commit { try $0.links.put(shared, to: bank.id, externalID: nil) }
        let lost = try await world.makeDevice(of: alone[0], by: shop)
        let kept = try await world.makeDevice(of: shared, by: shop)
        let asked = try await world.ask(try world.request(for: shared), by: shop)
        _ = try await kept.answer(asked, .approved(.confirm, number: asked.number))
        // Cut off after the first transaction.
        let now = world.time.now
        try await world.ports.store.commit { try $0.clients.delete(shop.id, at: now) }
        #expect(try await world.ports.store.read { try $0.clients.find(shop.id)?.id } == nil)
        #expect(try await world.count("user_links", where: "client_id = '\(shop.id)'") == 61)
        try await DeleteClient.sweep(ports: world.ports)
        #expect(try await world.count("user_links", where: "client_id = '\(shop.id)'") == 0)
        #expect(try await world.count("users", where: "deleted_at IS NOT NULL") == 60)
        let states = try await world.ports.store.read { reader in
            try [lost, kept].map { try reader.enrollments.state($0.enrollment) == .active }
        }
        #expect(states == [false, true])
        #expect(try await world.count("receipts") == 1)
        // The device that it enrolled goes on for the other client.
        _ = try await world.ask(try world.request(for: shared), by: bank)
        let left = try await world.sql(
            "SELECT secret_hash, callback_secret, callback_password, notice_uri FROM clients WHERE id = '\(shop.id)'")
        let row = try #require(left.first)
        for column in 0..<3 {
            let blob = try row.optionalBlob(column)
            #expect(blob == nil)
        }
        let notices = try row.optionalText(3)
        #expect(notices == nil)
        try await DeleteClient.sweep(ports: world.ports)
    }

    @Test("A disabled client is told nothing of its users' devices")
    func notTold() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        _ = try await UpdateClient.update(
            shop.id, .init(notices: .set(CallbackURI(stored: World.callback))), by: shop.actor, ports: world.ports)
        #expect(try await world.ports.store.read { try $0.receivers.ofNotices(of: user).count } == 1)
        _ = try await DisableClient.disable(shop.id, by: shop.actor, ports: world.ports)
        #expect(try await world.ports.store.read { try $0.receivers.ofNotices(of: user).count } == 0)
        _ = try await EnableClient.enable(shop.id, by: shop.actor, ports: world.ports)
        #expect(try await world.ports.store.read { try $0.receivers.ofNotices(of: user).count } == 1)
    }
}
