import CountersignStorage
import CountersignWire
import JOSE
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

    @Test("What was signed for Cotter's apps just before the key is replaced verifies for a day, by no key of tokens")
    func rotated() async throws {
        let world = try await World()
        try await PrepareTokenKeys.prepare([.cotter, .tokenRS256], by: .system, ports: world.ports)
        func pass(_ length: Seconds) async throws {
            world.time.advance(length)
            try await RotateIssuerKey.sweep(ports: world.ports)
            try await world.store.refreshKeys()
        }
        let text = Array("1014cli_01m7yfdqve7kp86cjznhx1qer1LOGIN1582842167TRUSTED_DEVICEfalsetrue".utf8)
        func isPublished(_ signature: [UInt8]) throws -> Bool {
            try world.ports.keys.current().tokens.publishedForCotter.keys.contains {
                $0.publicKey.isValid(signature, for: text)
            }
        }
        // Of two keys of one second neither is the newer one.
        try await pass(1)
        let begun = try await RotateIssuerKey.begin(.cotter, isAtOnce: false, by: .system, ports: world.ports)
        guard case .begun = begun else { throw World.Broken("\(begun)") }
        try await world.store.refreshKeys()
        try await pass(RotateIssuerKey.publication - 30)
        let first = try #require(try world.ports.keys.current().tokens.cotter)
        let signature = try await first.jwsSignature(of: text)
        #expect(try isPublished(signature))
        try await pass(30)
        let second = try #require(try world.ports.keys.current().tokens.cotter)
        #expect(second.keyID != first.keyID)
        let later = try await second.jwsSignature(of: text)
        let areBoth = [try isPublished(signature), try isPublished(later)]
        #expect(areBoth == [true, true])
        let tokens = try world.ports.keys.current().tokens.published.keys
        #expect(!tokens.isEmpty && tokens.allSatisfy { !$0.publicKey.isValid(later, for: text) })
        try await pass(RotateIssuerKey.honour + TokenLifetimes.longestAccess)
        let isOneLeft = [try isPublished(signature), try isPublished(later)]
        #expect(isOneLeft == [false, true])
    }
}
