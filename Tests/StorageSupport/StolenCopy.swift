package import CountersignCore
package import CountersignStorage
package import CountersignWire
package import Crypto
import Encodings
import Foundation
import TestSupport

/// A complete copy of a database in the hands of a thief: its bytes, and the rows that plain SQL reads.
///
/// Before the thief gives a master key, no code of this project that holds a key reads the copy.
package final class StolenCopy: Sendable {
    /// How a copy was obtained.
    package enum Way: String, CaseIterable, Sendable, CustomStringConvertible {
        case files = "SQLite's files beside a server that runs"
        case backup = "a backup of SQLite"
        case dump = "a dump of PostgreSQL"
        case archive = "a backup of PostgreSQL"

        /// The ways that exist for the engine of this run.
        package static var allCases: [Way] { Engine.chosen == .sqlite ? [.files, .backup] : [.dump, .archive] }

        /// The way, for a failing test.
        package var description: String { rawValue }
    }

    /// The thief's own server, which has opened the copy with the master key.
    package struct Opened: Sendable {
        /// The copy.
        package let store: SQLStore
        /// The issuer's keys with their private parts, including the primary key.
        package let material: IssuerKeyMaterial
        /// The key of keyed hashes.
        package let hashKey: SymmetricKey
        /// The external dependencies of operations.
        package let ports: Ports

        /// The private keys that the master key decrypts.
        package var privateKeys: [P256.Signing.PrivateKey] {
            get throws {
                try [material.primary] + material.kept.map { try .init(rawRepresentation: $0.secret.reveal()) }
            }
        }
    }

    /// The raw bytes of the copy; for a backup of PostgreSQL, the output of `pg_restore`.
    package let bytes: [UInt8]
    /// The rows of each table, by column.
    package let rows: [String: [[String: SQLValue]]]
    private let folder: TemporaryFolder
    private let restored: PostgresDatabase?
    private let engine: any SQLEngine

    /// Takes a copy of a test's database.
    package init(of world: World, by way: Way) async throws {
        folder = try TemporaryFolder()
        let path = World.database(in: folder)
        switch way {
        case .files:
            let names = ["countersign.sqlite", "countersign.sqlite-wal"]
            for name in names { _ = try folder.write(name, try world.folder.read(name)) }
            bytes = try names.flatMap(folder.read)
        case .backup:
            _ = try SQLiteBackup.make(of: World.database(in: world.folder), at: path)
            bytes = try folder.read("countersign.sqlite")
        case .dump:
            bytes = try Self.run("pg_dump", ["--dbname", try Self.database(of: world).url])
        case .archive:
            let archive = folder.path("archive")
            _ = try PostgresBackup.make(of: try PostgresAddress(try Self.database(of: world).url), at: archive)
            bytes = try Self.run("pg_restore", ["--file=-", archive])
        }
        switch way {
        case .files, .backup:
            restored = nil
            engine = try SQLiteEngine(path: path, hub: world.hub)
        case .dump, .archive:
            let database = try await PostgresDatabase.make(waits: false)
            let script = try folder.write("script.sql", bytes)
            _ = try Self.run(
                "psql", ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname", database.url, "--file", script])
            restored = database
            engine = try await database.engine(hub: world.hub)
        }
        rows = try await Self.rows(of: engine, isSQLite: restored == nil)
    }

    /// Takes the files of a server's SQLite database.
    package init(filesIn dataFolder: String, hub: ChangeHub) async throws {
        folder = try TemporaryFolder()
        var all: [UInt8] = []
        for name in ["countersign.sqlite", "countersign.sqlite-wal"] {
            guard let file = FileManager.default.contents(atPath: "\(dataFolder)/\(name)") else { continue }
            _ = try folder.write(name, file)
            all += file
        }
        bytes = all
        restored = nil
        engine = try SQLiteEngine(path: World.database(in: folder), hub: hub)
        rows = try await Self.rows(of: engine, isSQLite: true)
    }

    private static func database(of world: World) throws -> PostgresDatabase {
        guard let postgres = world.postgres else { throw World.Broken("PostgreSQL") }
        return postgres
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> [UInt8] {
        let result = try Program.run("/usr/bin/env", [program] + arguments)
        guard result.status == 0 else { throw World.Broken("\(program): \(result.errors)") }
        return Array(result.output.utf8)
    }

    /// Reads all rows by SQL that assumes nothing about the tables.
    private static func rows(
        of engine: any SQLEngine, isSQLite: Bool
    ) async throws -> [String: [[String: SQLValue]]] {
        let columns = SQLStatement(
            isSQLite
                ? """
                SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
                """
                : "SELECT table_name::text, column_name::text FROM information_schema.columns "
                    + "WHERE table_schema = current_schema()")
        return try await engine.read { connection in
            let names = try connection.rows(columns, []).map { (try $0.text(0), try $0.text(1)) }
            return try Dictionary(grouping: names, by: \.0).mapValues { names in
                let columns = names.map(\.1)
                let all = SQLStatement("SELECT \(columns.joined(separator: ", ")) FROM \(names[0].0)")
                return try connection.rows(all, []).map { row in
                    Dictionary(uniqueKeysWithValues: zip(columns, row[0..<columns.count]))
                }
            }
        }
    }

    /// The values of a column that are not null.
    package func values(_ table: String, _ column: String) -> [SQLValue] {
        (rows[table] ?? []).compactMap { $0[column] }.filter { $0 != .null }
    }

    /// The texts of a column.
    package func texts(_ table: String, _ column: String) -> [String] {
        values(table, column).compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// The bytes of a column.
    package func blobs(_ table: String, _ column: String) -> [[UInt8]] {
        values(table, column).compactMap { if case .blob(let bytes) = $0 { bytes } else { nil } }
    }

    /// Every text and every byte string in a row, each once.
    package var everything: Set<[UInt8]> {
        var all: Set<[UInt8]> = []
        for row in rows.values.joined() {
            for value in row.values {
                switch value {
                case .blob(let bytes): all.insert(bytes)
                case .text(let text): all.insert(Array(text.utf8))
                case .integer, .null: continue
                }
            }
        }
        return all
    }

    /// Opens the copy with a master key and the published code.
    package func opened(by masterKey: MasterKey, like world: World) async throws -> Opened {
        let issuer = world.ports.issuer
        let store = try await SQLStore(engine: engine, masterKey: masterKey, issuer: issuer)
        let material = try await store.read { try $0.keys.issuerKeys() }
        let hashKey = store.dataKey.derived(for: "keyed hashes")
        let ports = Ports(
            issuer: issuer, store: store, changes: world.hub, time: world.time, clock: ContinuousClock(),
            random: SeededRandom(seed: 77),
            hasher: KeyedHasher(key: hashKey), keys: try material.keys,
            transports: world.ports.transports, hooks: world.hooks, logger: world.ports.logger)
        return Opened(store: store, material: material, hashKey: hashKey, ports: ports)
    }

    /// All sealed values in the copy, decrypted with the master key and concatenated.
    package func unsealed(by masterKey: MasterKey, of issuer: Issuer, at now: Timestamp) async throws -> [UInt8] {
        let store = try await SQLStore(engine: engine, masterKey: masterKey, issuer: issuer)
        let material = try await store.read { try $0.keys.issuerKeys() }
        var all = Array(material.primary.rawRepresentation)
        for key in material.kept { all += key.secret.reveal() }
        for client in texts("clients", "id").compactMap({ ClientID($0) }) {
            let receiver = CallbackReceiver(of: client, at: CallbackURI(stored: World.callback))
            let access = try await store.callbackAccess(to: [receiver], at: now)[receiver]
            let secrets = (access?.secrets ?? []) + [access?.basic?.password].compactMap { $0 }
            all += secrets.flatMap { Array($0.reveal().utf8) }
        }
        for enrollment in texts("enrollments", "id").compactMap({ EnrollmentID($0) }) {
            let push = try await store.read { try $0.pushes.find(of: enrollment) }
            all += Array((push?.registration.token.reveal() ?? "").utf8)
        }
        for reply in rows["replies"] ?? [] {
            guard case .text(let scope) = reply["scope"], case .text(let name) = reply["key"],
                let key = IdempotencyKey(scope: scope, key: name, requestDigest: [])
            else { throw World.Broken("reply") }
            all += try await store.read { try $0.replies.find(key)?.form.stored ?? [] }
        }
        for leased in try await store.lease(limit: 1000, now: now, until: now) {
            if let posted = leased.message.content.posted { all += posted.body }
        }
        return all
    }

    /// Changes the copy, as a thief with write access can.
    package func write(_ text: String, _ arguments: [SQLValue]) async throws {
        let statement = SQLStatement(text)
        try await engine.write { connection in
            try connection.execute(statement, arguments)
            return ((), changes: [])
        }
    }
}
