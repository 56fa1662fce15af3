import CountersignCore
import CountersignStorage
import CountersignWire
import Foundation
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@Suite("The schema is made once, forward only, under a lock")
struct MigrationTests {
    private static let tables: Set = [
        "schema_version", "secrets", "clients", "bootstrap_tokens", "challenge_types", "users", "user_links", "tickets",
        "enrollments", "nonces", "challenges", "challenge_targets", "receipts", "answers", "replies", "audit", "outbox",
        "attempts", "provider_tokens", "gone_receivers", "asking_locks", "known_browsers", "erasures",
        "left_behind", "ended_links", "waits", "signing_keys", "relying_parties", "authorizations", "codes",
        "sessions", "session_clients", "token_families", "revoked_tokens", "identifiers", "grants", "passkeys",
        "allowed_origins", "removed_addresses", "looks", "device_keys",
    ]

    private func tables(in world: World) async throws -> Set<String> {
        let rows = try await world.sql(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        return Set(try rows.map { try $0.text(0) })
    }

    private func schema(of world: World) async throws -> [String?] {
        try await world.sql("SELECT sql FROM sqlite_master ORDER BY name").map { try $0.optionalText(0) }
    }

    private func open(_ path: String) async throws -> SQLStore {
        let issuer = try #require(Issuer(World.issuer))
        return try await SQLStore(
            sqlite: path, hub: ChangeHub(time: ScriptedTime()), masterKey: try World.masterKey(), issuer: issuer)
    }

    @Test("A fresh database has every table, each strict about its types, and the version of the schema")
    func fresh() async throws {
        let world = try await World(.sqlite, in: try TemporaryFolder(), time: ScriptedTime(), seed: 1)
        #expect(try await tables(in: world) == Self.tables)
        let strict = try await world.sql(
            "SELECT name FROM pragma_table_list WHERE strict = 1 AND schema = 'main' AND name NOT LIKE 'sqlite_%'")
        #expect(try Set(strict.map { try $0.text(0) }) == Self.tables)
        #expect(
            try await world.sql("SELECT version FROM schema_version ORDER BY version").map { try $0.integer(0) }
                == (1...Migrations.newest).map(Int64.init))
        // Written out here alone: a change of the number shall be noticed.
        #expect(Migrations.newest == 10)
    }

    @Test("Opening it again changes nothing and loses nothing")
    func again() async throws {
        let world = try await World(.sqlite)
        let shop = try await world.makeClient().client
        let before = try await schema(of: world)
        for seed: UInt64 in 2...4 {
            let reopened = try await world.reopened(seed: seed)
            #expect(try await schema(of: reopened) == before)
            #expect(try await reopened.count("schema_version") == Int64(Migrations.newest))
            #expect(try await reopened.store.read { try $0.clients.find(shop.id)?.id } == shop.id)
        }
    }

    @Test("A database that an earlier program has left gets the schema of a new one")
    func stored() async throws {
        let fresh = try await schema(of: try await World(.sqlite))
        let stored = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../SDKTests/Stored")
            .standardized
        let folders = try FileManager.default.contentsOfDirectory(at: stored, includingPropertiesForKeys: nil)
        #expect(!folders.isEmpty)
        for folder in folders {
            let temporary = try TemporaryFolder()
            let copy = temporary.path("countersign.sqlite")
            try FileManager.default.copyItem(
                atPath: folder.appending(path: "sqlite/data/countersign.sqlite").path, toPath: copy)
            let engine = try SQLiteEngine(path: copy, hub: ChangeHub(time: ScriptedTime()))
            try await Migrations.run(on: engine)
            let migrated = try await engine.read { connection in
                try connection.rows(SQLStatement("SELECT sql FROM sqlite_master ORDER BY name"), [])
                    .map { try $0.optionalText(0) }
            }
            #expect(migrated == fresh, "\(folder.lastPathComponent)")
        }
    }

    @Test("A newer schema is refused, says what to do, and is left alone")
    func newer() async throws {
        let world = try await World(.sqlite)
        try await world.sql("INSERT INTO schema_version (version) VALUES (\(Migrations.newest + 1))")
        let before = try await schema(of: world)
        let path = World.database(in: world.folder)
        await #expect(
            throws: StoreError.engine(
                "the database has schema \(Migrations.newest + 1), this program knows \(Migrations.newest): "
                    + "use a newer program")
        ) { _ = try await open(path) }
        #expect(try await schema(of: world) == before)
        #expect(try await world.count("schema_version") == Int64(Migrations.newest + 1))
    }

    @Test("An older schema gets the steps it lacks, once, and keeps its rows", arguments: Engine.allCases)
    func upgraded(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient().client
        let later: @Sendable (SQLDialect) -> [[String]] = { dialect in
            Migrations.steps(dialect) + [
                ["ALTER TABLE clients ADD COLUMN colour TEXT", "UPDATE clients SET colour = 'red'"],
                ["ALTER TABLE clients ADD COLUMN weight \(dialect.integer) NOT NULL DEFAULT 7"],
            ]
        }
        await #expect(
            throws: StoreError.engine(
                "the database has schema \(Migrations.newest), this program needs \(Migrations.newest + 2): "
                    + "run `countersign admin migrate`")
        ) { try await Migrations.run(on: world.engine, migrates: false, steps: later) }
        #expect(try await world.count("schema_version") == Int64(Migrations.newest))
        for migrates in [true, true, false] {
            try await Migrations.run(on: world.engine, migrates: migrates, steps: later)
            #expect(
                try await world.sql("SELECT version FROM schema_version ORDER BY version").map { try $0.integer(0) }
                    == (1...Migrations.newest + 2).map(Int64.init))
            #expect(try await world.count("clients", where: "id = '\(shop.id)' AND colour = 'red' AND weight = 7") == 1)
        }
        await #expect(
            throws: StoreError.engine(
                "the database has schema \(Migrations.newest + 2), this program knows \(Migrations.newest): "
                    + "use a newer program")
        ) { _ = try await world.opened(with: try World.masterKey()) }
    }

    @Test("A step that fails takes back what the steps before it did", arguments: Engine.allCases)
    func failingStep(_ engine: Engine) async throws {
        let world = try await World(engine)
        await #expect(throws: StoreError.self) {
            try await Migrations.run(on: world.engine) { dialect in
                Migrations.steps(dialect) + [
                    ["ALTER TABLE clients ADD COLUMN colour TEXT"], ["ALTER TABLE nowhere ADD COLUMN colour TEXT"],
                ]
            }
        }
        #expect(try await world.count("schema_version") == Int64(Migrations.newest))
        await #expect(throws: StoreError.self) { try await world.sql("SELECT colour FROM clients") }
    }

    @Test("A migration that fails in the middle leaves nothing behind")
    func failing() async throws {
        let folder = try TemporaryFolder()
        let engine = try SQLiteEngine(path: folder.path("db.sqlite"), hub: ChangeHub(time: ScriptedTime()))
        try await engine.write { connection in
            // The name of one of the last tables, taken.
            try connection.execute(SQLStatement("CREATE TABLE outbox (x INTEGER)"), [])
            return ((), changes: [])
        }
        let error = await #expect(throws: StoreError.self) { _ = try await open(folder.path("db.sqlite")) }
        #expect(error == .engine("1 (SQL logic error) table outbox already exists"))
        let left = try await engine.read { connection in
            try connection.rows(SQLStatement("SELECT name FROM sqlite_master"), []).map { try $0.text(0) }
        }
        #expect(left == ["outbox"])
    }

    @Test("Of several first starts at once one makes the schema, and all have it")
    func together() async throws {
        let folder = try TemporaryFolder()
        let time = ScriptedTime()
        let worlds = try await atOnce(4) { number in
            try await World(.sqlite, in: folder, time: time, seed: UInt64(number))
        }
        #expect(try await worlds[0].count("schema_version") == Int64(Migrations.newest))
        #expect(try await tables(in: worlds[3]) == Self.tables)
        let issuers = Set(try worlds.map { try $0.issuerKeys.certificate.fingerprint })
        #expect(issuers.count == 1, "all have the issuer's keys that were stored first")
        #expect(try await worlds[1].count("secrets") == 2)
    }

    @Test("A first start that is overtaken by another one, whole, opens what that one made", arguments: 1...3)
    func overtaken(_ write: Int) async throws {
        let folder = try TemporaryFolder()
        let time = ScriptedTime()
        let world = try await World(.sqlite, in: folder, time: time, seed: 1) { engine in
            RecordingEngine(engine) { number in
                if number == write { _ = try await World(.sqlite, in: folder, time: time, seed: 2) }
            }
        }
        let other = try await World(.sqlite, in: folder, time: time, seed: 3)
        #expect(try world.issuerKeys.certificate.fingerprint == other.issuerKeys.certificate.fingerprint)
        #expect(try await world.count("secrets") == 2)
    }

    @Test("The database and its side files are for their owner alone")
    func permissions() async throws {
        let world = try await World(.sqlite, in: try TemporaryFolder(), time: ScriptedTime(), seed: 1)
        _ = try await world.makeClient()
        let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path).sorted()
        #expect(names == ["countersign.sqlite", "countersign.sqlite-shm", "countersign.sqlite-wal"])
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: world.folder.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }
}
