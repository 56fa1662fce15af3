import CountersignCore
import CountersignStorage
import CountersignWire
import Foundation
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@Suite("Design 7: the schema is made once, forward only, under a lock")
struct MigrationTests {
    private static let tables: Set = [
        "schema_version", "secrets", "clients", "bootstrap_tokens", "challenge_types", "users", "user_links", "tickets",
        "enrollments", "nonces", "challenges", "challenge_targets", "receipts", "answers", "replies", "audit", "outbox",
        "attempts", "provider_tokens", "gone_receivers", "asking_locks", "known_browsers", "erasures",
        "left_behind", "ended_links", "waits", "signing_keys",
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
        let world = try await World(.sqlite)
        #expect(try await tables(in: world) == Self.tables)
        let strict = try await world.sql(
            "SELECT name FROM pragma_table_list WHERE strict = 1 AND schema = 'main' AND name NOT LIKE 'sqlite_%'")
        #expect(try Set(strict.map { try $0.text(0) }) == Self.tables)
        #expect(
            try await world.sql("SELECT version FROM schema_version").map { try $0.integer(0) } == [
                1, 2, 3, 4, 5, 6, 7,
            ])
    }

    @Test("Opening it again changes nothing and loses nothing")
    func again() async throws {
        let world = try await World(.sqlite)
        let shop = try await world.makeClient().client
        let before = try await schema(of: world)
        for seed: UInt64 in 2...4 {
            let reopened = try await world.reopened(seed: seed)
            #expect(try await schema(of: reopened) == before)
            #expect(try await reopened.count("schema_version") == 7)
            #expect(try await reopened.store.read { try $0.clients.find(shop.id)?.id } == shop.id)
        }
    }

    @Test("A newer schema is refused, says what to do, and is left alone")
    func newer() async throws {
        let world = try await World(.sqlite)
        try await world.sql("INSERT INTO schema_version (version) VALUES (8)")
        let before = try await schema(of: world)
        let path = World.database(in: world.folder)
        await #expect(
            throws: StoreError.engine("the database has schema 8, this program knows 7: use a newer program")
        ) { _ = try await open(path) }
        #expect(try await schema(of: world) == before)
        #expect(try await world.count("schema_version") == 8)
    }

    @Test(
        "A database of the first schema, with people at work in it, goes on with the newest", arguments: Engine.allCases
    )
    func upgraded(_ engine: Engine) async throws {
        let world = try await World(engine)
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let asked = try await world.ask(try world.request(for: user), by: shop)
        // As the first program would have left it.
        try await world.leaveIssuerKeysAsBefore()
        for statement in [
            "DROP TABLE waits", "DROP TABLE signing_keys", "DROP TABLE left_behind", "DROP TABLE ended_links",
            "ALTER TABLE enrollments RENAME COLUMN counts_from TO waits_until",
            "ALTER TABLE enrollments DROP COLUMN suspended_at", "ALTER TABLE enrollments DROP COLUMN methods_count",
            "ALTER TABLE enrollments DROP COLUMN pin_counts_from",
            "ALTER TABLE enrollments DROP COLUMN biometric_counts_from",
            "ALTER TABLE enrollments DROP COLUMN push", "ALTER TABLE enrollments DROP COLUMN push_token",
            "ALTER TABLE challenge_targets DROP COLUMN push_state",
            "ALTER TABLE challenge_targets DROP COLUMN push_reason",
            "ALTER TABLE challenge_targets DROP COLUMN push_at", "DROP TABLE provider_tokens",
            "DROP INDEX outbox_dead", "DROP INDEX outbox_dead_content", "DROP INDEX outbox_dead_list",
            "DROP INDEX outbox_next", "CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'waiting'",
            "ALTER TABLE clients DROP COLUMN earlier_callback_secret", "ALTER TABLE clients DROP COLUMN earlier_until",
            "ALTER TABLE clients DROP COLUMN callback_username", "ALTER TABLE clients DROP COLUMN callback_password",
            "DROP TABLE gone_receivers", "DROP TABLE asking_locks",
            "ALTER TABLE clients DROP COLUMN pin_policy",
            "ALTER TABLE clients DROP COLUMN device_limit", "ALTER TABLE enrollments DROP COLUMN pin_key",
            "ALTER TABLE enrollments DROP COLUMN biometric_key",
            "ALTER TABLE enrollments DROP COLUMN wrong_pins", "ALTER TABLE enrollments DROP COLUMN pin_locked_at",
            "ALTER TABLE clients DROP COLUMN authenticators", "ALTER TABLE enrollments DROP COLUMN customs",
            "ALTER TABLE enrollments DROP COLUMN versions",
            "ALTER TABLE answers DROP COLUMN custom", "ALTER TABLE challenges DROP COLUMN attempts",
            "ALTER TABLE clients DROP COLUMN notice_uri", "ALTER TABLE clients DROP COLUMN return_uris",
            "ALTER TABLE challenges DROP COLUMN return_uri",
            "DROP TABLE known_browsers", "ALTER TABLE user_links DROP COLUMN enrollment_blocked",
            "ALTER TABLE challenges DROP COLUMN browser",
            "ALTER TABLE challenges DROP COLUMN new_device_id", "ALTER TABLE enrollments DROP COLUMN awaits",
            "ALTER TABLE enrollments DROP COLUMN waits_until", "ALTER TABLE clients DROP COLUMN cooling_off",
            "DROP INDEX challenges_unclaimed", "ALTER TABLE challenges DROP COLUMN is_qr",
            "ALTER TABLE challenges DROP COLUMN claimed_at",
            "ALTER TABLE receipts DROP COLUMN client_id", "DROP TABLE erasures", "DROP INDEX audit_user",
            "DROP INDEX audit_client", "DROP INDEX audit_kind", "DROP INDEX audit_challenge",
            "DROP INDEX challenges_client", "DROP INDEX receipts_device",
            "DROP INDEX outbox_lanes", "ALTER TABLE outbox DROP COLUMN lane", "DROP INDEX challenges_of_client",
            "ALTER TABLE clients DROP COLUMN earlier_secret_hash",
            "ALTER TABLE clients DROP COLUMN earlier_secret_until", "ALTER TABLE clients DROP COLUMN disabled_at",
            "ALTER TABLE clients DROP COLUMN deleted_at",
            "DELETE FROM schema_version WHERE version >= 2",
        ] { try await world.sql(statement) }
        if engine == .postgresql { try await world.sql("ALTER TABLE challenges ALTER COLUMN user_id SET NOT NULL") }
        await #expect(throws: StoreError.self) { _ = try await world.ask(try world.request(for: user), by: shop) }
        let upgraded = try await world.reopened()
        #expect(try await upgraded.store.read { try $0.enrollments.find(device.enrollment)?.push } == nil)
        #expect(
            try await upgraded.store.read { try $0.enrollments.find(device.enrollment)?.pinState }
                == MethodsReply.PINState.none)
        #expect(try await upgraded.store.read { try $0.clients.find(shop.id)?.pinPolicy } == .standard)
        #expect(try await upgraded.store.read { try $0.targets.deliveries(of: asked.challenge.id).count } == 1)
        let kept = try #require(try await upgraded.store.read { try $0.challenges.find(asked.challenge.id) })
        #expect(kept.user == user && kept.claim == nil)
        _ = try await upgraded.ask(try upgraded.request(for: user), by: shop)
        #expect(try await upgraded.count("schema_version") == 7)
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
        #expect(try await worlds[0].count("schema_version") == 7)
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
        let world = try await World(.sqlite)
        _ = try await world.makeClient()
        let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path).sorted()
        #expect(names == ["countersign.sqlite", "countersign.sqlite-shm", "countersign.sqlite-wal"])
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: world.folder.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }
}
