import CountersignCore
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@Suite("What is sealed opens by the right key and in its own place alone")
struct MasterKeyTests {
    @Test("RFC 5869: a purpose's key is HKDF-SHA-256 of the master key, without salt, under a name of ours")
    func derivation() throws {
        let bytes = [UInt8](repeating: 7, count: 32)
        let masterKey = try #require(MasterKey(bytes: Secret(bytes)))
        // Extract and expand, spelled out: both are HMAC-SHA-256, and 32 bytes need one round.
        func hmac(_ key: [UInt8], _ text: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: key)))
        }
        let extracted = hmac([UInt8](repeating: 0, count: 32), bytes)
        for purpose in ["seal", "number", ""] {
            let expected = hmac(extracted, Array("countersign v1 \(purpose)".utf8) + [1])
            #expect(masterKey.derived(for: purpose).withUnsafeBytes { Array($0) } == expected)
        }
        for length in [0, 31, 33] {
            #expect(MasterKey(bytes: Secret([UInt8](repeating: 7, count: length))) == nil)
        }
    }

    @Test("Another master key opens nothing, makes nothing new, and the error says so")
    func otherKey() async throws {
        let world = try await World()
        let (own, other) = (try World.masterKey(), try World.masterKey(8))
        await #expect(
            throws: StoreError.corruptRow("the database opens by the master key \(own.id), and this is \(other.id)")
        ) {
            _ = try await world.opened(with: other)
        }
        // And nothing was harmed by the attempt.
        let again = try await world.reopened()
        #expect(try again.issuerKeys.certificate.fingerprint == world.issuerKeys.certificate.fingerprint)
        #expect(try await again.count("secrets") == 2)
    }

    @Test("A callback secret moved to another client's row does not open there")
    func moved() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let rival = try await world.makeClient("Rival").client
        try await world.sql(
            "UPDATE clients SET callback_secret = (SELECT callback_secret FROM clients WHERE id = $1) WHERE id = $2",
            [.text("\(shop.id)"), .text("\(rival.id)")])
        await #expect(throws: StoreError.corruptRow("sealed callback secret \(rival.id)")) {
            _ = try await world.store.callbackSecret(of: rival.id)
        }
        #expect(try await world.store.callbackSecret(of: shop.id) != nil)
    }

    @Test(
        "A sealed value of another version, cut or lengthened, does not open",
        arguments: [
            "x'02' || substr(callback_secret, 2)", "x''", "x'01'", "substr(callback_secret, 2)",
            "substr(callback_secret, 1, length(callback_secret) - 1)", "callback_secret || x'00'",
        ])
    func damaged(_ damage: String) async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        try await world.sql("UPDATE clients SET callback_secret = CAST(\(damage) AS BLOB)")
        await #expect(throws: StoreError.corruptRow("sealed callback secret \(shop.id)")) {
            _ = try await world.store.callbackSecret(of: shop.id)
        }
    }

    @Test("A message that does not open is set aside with its content, and the others leave")
    func unreadable() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let now = world.time.now
        let ids = try await world.enqueueCallbacks(of: shop.id)
        // The first row gets the second one's content: bound to its own row, it does not open there.
        try await world.sql(
            "UPDATE outbox SET payload = (SELECT payload FROM outbox WHERE id = $2) WHERE id = $1",
            [.text("\(ids[0])"), .text("\(ids[1])")])
        let leased = try await world.store.lease(limit: 10, now: now, until: now.adding(seconds: 60))
        #expect(Set(leased.map(\.message.id)) == Set(ids.dropFirst()))
        for message in leased.map(\.message) {
            guard case .callback(_, _, let body) = message.content else { continue }
            #expect(body == Array("\(message.id)".utf8))
        }
        let dead = try await world.sql("SELECT id, last_error FROM outbox WHERE state = 'dead' AND payload IS NOT NULL")
        #expect(try dead.map { try $0.text(0) } == ["\(ids[0])"])
        #expect(try dead.first?.text(1) == "unreadable: sealed outbox \(ids[0])")
        #expect(try await world.store.lease(limit: 10, now: now, until: now).isEmpty)
    }
}
