import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("The keys that vendors' calls are answered with")
struct VendorKeyTests {
    private static func uses(in world: World) async throws -> [KeyUse] {
        try await world.store.read { try $0.keys.issuerKeys() }.kept.map(\.use)
    }

    @Test("Each is made once, when the first client may make the calls", arguments: Engine.allCases)
    func made(_ engine: Engine) async throws {
        let world = try await World(engine)
        let client = try await world.makeClient().client
        var expected = try await Self.uses(in: world)
        for (vendor, use) in [
            (.oneWelcome, nil), (.cotter, .cotter), (.okta, .tokenRS256),
        ] as [(Vendor, KeyUse?)] {
            if let use { expected.append(use) }
            for _ in 0..<2 {
                let outcome = try await UpdateClient.update(
                    client.id, ClientChanges(vendors: [vendor]), by: .system, ports: world.ports)
                guard case .updated = outcome else { throw World.Broken("vendor") }
                let uses = try await Self.uses(in: world)
                #expect(Set(uses) == Set(expected) && uses.count == expected.count, "\(vendor)")
            }
        }
    }
}
