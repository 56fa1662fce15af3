import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/decisions/0108-cotters-door.md.
@Suite("Whom an app names that was written for Cotter")
struct CalledUserTests {
    private static let mail = "anna@example.com"

    /// Whom an event names.
    private func named(_ text: String, at client: Client, in world: World) async throws -> UserID? {
        let hasher = world.ports.hasher
        return try await world.store.read { try $0.person(called: text, at: client.id, hasher) }
    }

    private func prove(_ address: EmailAddress, _ user: UserID, in world: World) async throws {
        try await world.ports.commit(at: world.time.now, as: .system) { work in
            _ = try work.verify(.email(address), of: user)
        }
    }

    @Test("A client's own name of any form goes before an id and an address that look like it")
    func names() async throws {
        let world = try await World(.chosen)
        let shop = try await world.makeClient().client
        let anna = try await world.makeUser(of: shop)
        let berta = try await world.makeUser(of: shop)
        let address = try #require(EmailAddress("berta@example.com"))
        try await prove(try #require(EmailAddress(Self.mail)), anna, in: world)
        try await prove(address, berta, in: world)
        for (text, user) in [("\(anna)", anna), (anna.uuid, anna), (Self.mail, anna), ("\(address)", berta)] {
            #expect(try await named(text, at: shop, in: world) == user, "\(text)")
            let found = try await FindCalledUser.find(text, of: shop, ports: world.ports)
            #expect(found == user, "\(text)")
        }
        for name in ["1014", "\(anna)", anna.uuid, Self.mail, "+15551234567"] {
            let user = try await world.makeUser(name, of: shop)
            #expect(try await named(name, at: shop, in: world) == user, "\(name)")
            let found = try await FindCalledUser.find(name, of: shop, ports: world.ports)
            #expect(found == user, "\(name)")
        }
        #expect(try await named("\(berta)", at: shop, in: world) == berta)
        #expect(try await named("nobody@example.com", at: shop, in: world) == nil)
    }

    @Test("Who proves an address just before somebody is given it as a name is still called by it: the name is taken")
    func provedMeanwhile() async throws {
        let world = try await World(.chosen)
        let shop = try await world.makeClient().client
        let anna = try await world.makeUser(of: shop)
        let address = try #require(EmailAddress(Self.mail))
        // Whatever the operation has read before it writes, it has not found her.
        let store = ActingStore(world.store, beforeCommit: { try await prove(address, anna, in: world) })
        let outcome = try await CreateCalledUser.create(
            externalID: try ExternalID(Self.mail), ClaimedAddresses(), by: shop.caller,
            ports: world.ports(on: store, loggingTo: world.ports.logger))
        #expect(outcome == .externalIDTaken)
        #expect(try await named(Self.mail, at: shop, in: world) == anna)
        #expect(try await world.count("users") == 1)
    }

    @Test("A third party names nobody by what they have proved, and its word is good whatever somebody has proved")
    func thirdParties() async throws {
        let world = try await World(.chosen)
        let third = try await world.makeClient("Calendar", isThirdParty: true).client
        let user = try await world.makeUser("1014", of: third)
        let address = try #require(EmailAddress(Self.mail))
        try await prove(address, user, in: world)
        #expect(try await named(Self.mail, at: third, in: world) == nil)
        #expect(try await named("1014", at: third, in: world) == user)
        #expect(try await named("\(user)", at: third, in: world) == user)
        let result = try await CreateUser.create(
            externalID: nil, ClaimedAddresses(email: address), by: third.caller, idempotency: nil, ports: world.ports)
        guard case .done(.created(let said)) = result else {
            Issue.record("not created")
            return
        }
        #expect(try await named(Self.mail, at: third, in: world) == said.id)
    }
}
