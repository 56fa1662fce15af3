import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import Logging
import OpenPGP
import StorageTestSupport
import Testing

@Suite("Several nodes start on one database")
struct NodesStartTests {
    @Test("Of eight first starts at once one makes the schema, the keys and the operator, and all have them")
    func together() async throws {
        let database = try await PostgresDatabase.make()
        let time = ScriptedTime()
        let issuer = try #require(Issuer(World.issuer))
        let (kept, made) = (Counter(), Counter())
        let fingerprints = try await atOnce(8) { number -> String in
            let opened = try await SQLStore.open(
                PostgresSettings(address: try PostgresAddress(database.url)), hub: ChangeHub(time: time),
                issuer: issuer,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                masterKey: { isNew in
                    if isNew { made.count() }
                    return try World.masterKey()
                },
                prepare: { store in
                    let random = SeededRandom(seed: UInt64(number))
                    _ = try await FirstStart.prepare(store: store, time: time, random: random) { _ in kept.count() }
                    return try await store.issuerKeys(at: time.now, random: random).certificate.fingerprint.description
                })
            return opened.prepared
        }
        #expect(Set(fingerprints).count == 1)
        #expect(kept.value == 1, "one token was given out")
        #expect(made.value == 1, "one node was told that the database is new")
    }

    @Test("A newer schema is refused and left alone")
    func newer() async throws {
        let world = try await World(.postgresql)
        try await world.sql("INSERT INTO schema_version (version) VALUES (99)")
        await #expect(
            throws: StoreError.engine(
                "the database has schema 99, this program knows \(Migrations.newest): use a newer program")
        ) { _ = try await world.opened(with: try World.masterKey()) }
        #expect(try await world.count("schema_version") == Int64(Migrations.newest) + 1)
    }

    @Test("A migration that fails in the middle leaves nothing behind")
    func failing() async throws {
        let database = try await PostgresDatabase.make()
        try database.command("CREATE TABLE outbox (x INTEGER)")
        let hub = ChangeHub(time: ScriptedTime())
        let engine = try await database.engine(hub: hub)
        let issuer = try #require(Issuer(World.issuer))
        let masterKey = try World.masterKey()
        await #expect(throws: StoreError.engine("PostgreSQL 42P07: relation \"outbox\" already exists")) {
            _ = try await SQLStore(engine: engine, masterKey: masterKey, issuer: issuer)
        }
        let tables = SQLStatement("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        let left = try await engine.read { try $0.rows(tables, []).map { try $0.text(0) } }
        #expect(left == ["commits", "outbox", "turns"], "the engine's own tables and what was there")
    }

    @Test("One node at a time has its turn, keeps it as long as it asks, and loses it when it does not")
    func turns() async throws {
        let world = try await World(.postgresql)
        let other = try await world.reopened()
        #expect(try await world.store.takesTurn(at: "sweep", for: 60))
        #expect(try await !other.store.takesTurn(at: "sweep", for: 60))
        #expect(try await other.store.takesTurn(at: "another", for: 60))
        #expect(try await world.store.takesTurn(at: "sweep", for: 0))
        while try await !other.store.takesTurn(at: "sweep", for: 60) {}
        #expect(try await !world.store.takesTurn(at: "sweep", for: 60))
    }

    @Test("Of 40 due messages and eight nodes that lease at once each message is one node's")
    func leases() async throws {
        let world = try await World(.postgresql)
        let shop = try await world.makeClient().client
        for _ in 0..<14 { _ = try await world.enqueueCallbacks(of: shop.id) }
        let other = try await world.reopened()
        let now = world.time.now
        let leased = try await atOnce(16) { number in
            try await [world, other][number % 2].store.lease(limit: 5, now: now, until: now.adding(seconds: 60))
                .map(\.message.id)
        }
        #expect(leased.joined().count == 42)
        #expect(Set(leased.joined()).count == 42)
    }
}
