import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@Suite("Another master key takes the place of one, and nothing sealed is touched")
struct KeyWrapTests {
    /// The world's database, opened by a master key.
    private func open(_ world: World, _ byte: UInt8) async throws -> SQLStore {
        try await SQLStore(engine: world.engine, masterKey: try World.masterKey(byte), issuer: world.ports.issuer)
    }

    private func expectClosed(
        _ world: World, to byte: UInt8, opensBy keys: UInt8..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let names = try keys.map { "\(try World.masterKey($0).id)" }.joined(separator: ", ")
        let own = try World.masterKey(byte).id
        await #expect(
            throws: StoreError.corruptRow("the database opens by the master key \(names), and this is \(own)"),
            sourceLocation: sourceLocation
        ) { _ = try await open(world, byte) }
    }

    @Test("Until a rotation is finished both keys open the database, and what was sealed opens under either")
    func rotation() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let secret = try #require(try await world.store.callbackSecret(of: shop.id))
        let rows = try await world.sql("SELECT callback_secret FROM clients WHERE id = $1", [.text("\(shop.id)")])
        try await expectClosed(world, to: 8, opensBy: 7)
        try await world.store.accept(try World.masterKey(8), besides: try World.masterKey(7))
        for byte in [UInt8(7), 8] {
            let store = try await open(world, byte)
            #expect(try await store.callbackSecret(of: shop.id)?.isSame(as: secret) == true)
            #expect(try await store.masterKeys() == [try World.masterKey(7).id, try World.masterKey(8).id])
        }
        #expect(try await open(world, 8).retireEarlier(than: try World.masterKey(8), at: world.time.now))
        try await expectClosed(world, to: 7, opensBy: 8)
        #expect(try await open(world, 8).callbackSecret(of: shop.id)?.isSame(as: secret) == true)
        let after = try await world.sql("SELECT callback_secret FROM clients WHERE id = $1", [.text("\(shop.id)")])
        #expect(try after.map { try $0.blob(0) } == rows.map { try $0.blob(0) }, "nothing was sealed anew")
        // A store that was opened before goes on.
        #expect(try await world.store.callbackSecret(of: shop.id)?.isSame(as: secret) == true)
    }

    @Test("The earlier key cannot finish a rotation to another, and does nothing")
    func finishedByTheWrongOne() async throws {
        let world = try await World()
        try await world.store.accept(try World.masterKey(8), besides: try World.masterKey(7))
        #expect(try await !world.store.retireEarlier(than: try World.masterKey(7), at: world.time.now))
        _ = try await open(world, 7)
        _ = try await open(world, 8)
        await #expect(throws: StoreError.self) {
            _ = try await world.store.retireEarlier(than: try World.masterKey(9), at: world.time.now)
        }
        #expect(try await world.store.masterKeys().count == 2)
    }

    @Test("A rotation that is begun again forgets the key that was to be the next, and may name the same")
    func begunAgain() async throws {
        let world = try await World()
        let current = try World.masterKey(7)
        for next in [UInt8(8), 8, 9] { try await world.store.accept(try World.masterKey(next), besides: current) }
        try await expectClosed(world, to: 8, opensBy: 7, 9)
        #expect(try await world.store.retireEarlier(than: try World.masterKey(9), at: world.time.now))
        #expect(try await world.store.masterKeys() == [try World.masterKey(9).id])
        // And back to the first.
        try await world.store.accept(current, besides: try World.masterKey(9))
        #expect(try await world.store.retireEarlier(than: current, at: world.time.now))
        _ = try await open(world, 7)
        try await expectClosed(world, to: 9, opensBy: 7)
    }

    @Test("A key that does not open the database lets no other in")
    func stranger() async throws {
        let world = try await World()
        await #expect(throws: StoreError.self) {
            try await world.store.accept(try World.masterKey(9), besides: try World.masterKey(8))
        }
        #expect(try await world.store.masterKeys() == [try World.masterKey(7).id])
    }

    @Test("A wrap that was moved or changed does not open", arguments: ["moved", "changed", "cut", "of another key"])
    func damaged(_ harm: String) async throws {
        let world = try await World()
        let own = Hex.encode(Array(try World.masterKey(9).id.description.utf8))
        let (statement, error) =
            switch harm {
            case "moved": ("UPDATE secrets SET name = 'data key 2' WHERE name = 'data key 1'", "sealed data key 2")
            case "changed":
                (
                    "UPDATE secrets SET sealed = CAST(substr(sealed, 1, 20) || x'00' || substr(sealed, 22) AS BLOB) "
                        + "WHERE name = 'data key 1'", "sealed data key 1"
                )
            case "cut":
                ("UPDATE secrets SET sealed = substr(sealed, 1, 40) WHERE name = 'data key 1'", "sealed data key 1")
            default:
                (
                    "UPDATE secrets SET sealed = CAST(x'\(own)' || substr(sealed, 9) AS BLOB) WHERE name = 'data key 1'",
                    ""
                )
            }
        try await world.sql(statement)
        let thrown = await #expect(throws: StoreError.self) { _ = try await open(world, 7) }
        if !error.isEmpty { #expect(thrown == .corruptRow(error)) }
    }

    @Test("Of two first starts at once with two keys one counts, and the other is refused")
    func firstStarts() async throws {
        let folder = try TemporaryFolder()
        let time = ScriptedTime()
        let engine = try SQLiteEngine(path: folder.path("db.sqlite"), hub: ChangeHub(time: time))
        let issuer = try #require(Issuer(World.issuer))
        let opened = try await atOnce(4) { number in
            try? await SQLStore(engine: engine, masterKey: try World.masterKey(UInt8(number)), issuer: issuer)
        }
        #expect(opened.compactMap { $0 }.count == 1)
    }

    @Test("A database whose keys were sealed without a data key is refused, not overwritten")
    func earlierProgram() async throws {
        let world = try await World()
        try await world.sql("DELETE FROM secrets WHERE name LIKE 'data key %'")
        await #expect(
            throws: StoreError.engine("it was made by a program before this one's first release: use a new folder")
        ) { _ = try await open(world, 7) }
        #expect(try await world.count("secrets") == 1)
    }
}
