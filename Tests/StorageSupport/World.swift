package import CountersignCore
package import CountersignStorage
import CountersignWire
import Encodings
import Foundation
package import Logging
package import TestSupport

/// What a test of operations needs: a real store in an empty folder, a clock and chance under control.
package struct World: Sendable {
    /// The issuer of every world.
    package static let issuer = "https://login.example.com"

    /// Something a test cannot go on without.
    package struct Broken: Error {
        /// What it is.
        package let what: String

        /// Something missing.
        package init(_ what: String) {
            self.what = what
        }
    }

    /// Where the database stands.
    package let folder: TemporaryFolder
    /// Where it stands on PostgreSQL.
    package let postgres: PostgresDatabase?
    private let kind: Engine
    /// The engine.
    package let engine: any SQLEngine
    /// The store.
    package let store: SQLStore
    /// Who waits.
    package let hub: ChangeHub
    /// The clock.
    package let time: ScriptedTime
    /// Chance.
    package let random: SeededRandom
    /// Hooks of custom authenticators.
    package let hooks = ScriptedHooks()
    /// All of it together.
    package let ports: Ports

    /// A world with an empty database.
    package init(_ engine: Engine = .chosen, seed: UInt64 = 1) async throws {
        try await self.init(engine, in: try TemporaryFolder(), time: ScriptedTime(), seed: seed)
    }

    /// The same database opened once more, as after a restart: other connections, other waiters, other chance.
    package func reopened(seed: UInt64 = 2) async throws -> World {
        try await World(kind, in: folder, of: postgres, time: time, seed: seed)
    }

    /// A world over a folder.
    ///
    /// - Parameters:
    ///   - engine: the database.
    ///   - folder: where it stands.
    ///   - postgres: where it stands already on PostgreSQL; a new one if nil.
    ///   - time: the clock.
    ///   - seed: of its chance.
    ///   - wrap: what stands between the store and the engine; nothing unless a test says otherwise.
    package init(
        _ engine: Engine, in folder: TemporaryFolder, of postgres: PostgresDatabase? = nil, time: ScriptedTime,
        seed: UInt64, wrap: (any SQLEngine) -> any SQLEngine = { $0 }
    ) async throws {
        guard let issuer = Issuer(Self.issuer) else { throw Broken("issuer") }
        let masterKey = try Self.masterKey()
        self.folder = folder
        kind = engine
        self.time = time
        random = SeededRandom(seed: seed)
        hub = ChangeHub(time: time)
        switch engine {
        case .sqlite:
            self.postgres = nil
            self.engine = wrap(try SQLiteEngine(path: Self.database(in: folder), hub: hub))
        case .postgresql:
            let database: PostgresDatabase
            if let postgres { database = postgres } else { database = try await .make() }
            self.postgres = database
            self.engine = wrap(try await database.engine(hub: hub))
        }
        store = try await Self.open(self.engine, masterKey: masterKey, issuer: issuer)
        _ = try await store.issuerKeys(at: time.now, random: random)
        try await store.refreshKeys()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        ports = Ports(
            issuer: issuer, store: store, changes: hub, time: time, clock: ContinuousClock(), random: random,
            hasher: KeyedHasher(key: store.dataKey.derived(for: "keyed hashes")),
            keys: store.issuerKeySource, transports: Transports(mail: true, text: true),
            hooks: hooks, logger: logger)
    }

    /// The issuer's keys, as they were read last.
    package var issuerKeys: IssuerKeys {
        get throws { try ports.keys.current() }
    }

    /// The same ports with other ways to reach people.
    package func ports(sendingBy transports: Transports) -> Ports {
        Ports(
            issuer: ports.issuer, store: store, changes: hub, time: time, clock: ContinuousClock(), random: random,
            hasher: ports.hasher,
            keys: ports.keys, transports: transports, hooks: hooks, logger: ports.logger)
    }

    /// The same ports with another log, and on another store where there is one.
    package func ports(on other: (any Store)? = nil, loggingTo logger: Logger) -> Ports {
        Ports(
            issuer: ports.issuer, store: other ?? store, changes: hub, time: time, clock: ContinuousClock(),
            random: random,
            hasher: ports.hasher,
            keys: ports.keys, transports: ports.transports, hooks: hooks, logger: logger)
    }

    /// The master key of every world.
    package static func masterKey(_ byte: UInt8 = 7) throws -> MasterKey {
        guard let key = MasterKey(bytes: Secret([UInt8](repeating: byte, count: 32))) else {
            throw Broken("master key")
        }
        return key
    }

    /// The path of the SQLite file in a folder.
    package static func database(in folder: TemporaryFolder) -> String { folder.path("countersign.sqlite") }

    private static func open(
        _ engine: some SQLEngine, masterKey: MasterKey, issuer: Issuer
    ) async throws -> SQLStore {
        try await SQLStore(engine: engine, masterKey: masterKey, issuer: issuer)
    }

    /// Runs one statement in a transaction of its own and returns its rows.
    ///
    /// - Parameters:
    ///   - text: the statement, in SQLite's words; `x'00'`, `BLOB` and `char()` are spelled as the engine spells them.
    ///   - arguments: its arguments.
    @discardableResult
    package func sql(_ text: String, _ arguments: [SQLValue] = []) async throws -> [SQLRow] {
        let statement = SQLStatement(kind.spelled(text))
        return try await engine.write { (try $0.rows(statement, arguments), changes: []) }
    }

    /// Opens the database once more, with a master key.
    package func opened(with masterKey: MasterKey) async throws -> SQLStore {
        let hub = ChangeHub(time: time)
        switch kind {
        case .sqlite:
            return try await SQLStore(
                sqlite: Self.database(in: folder), hub: hub, masterKey: masterKey, issuer: ports.issuer)
        case .postgresql:
            guard let postgres else { throw Broken("database") }
            return try await Self.open(try await postgres.engine(hub: hub), masterKey: masterKey, issuer: ports.issuer)
        }
    }

    /// How many rows a table has, or those of them that meet a condition.
    package func count(_ table: String, where condition: String = "1 = 1") async throws -> Int64 {
        let rows = try await sql("SELECT count(*) FROM \(table) WHERE \(condition)")
        return try rows.first?.integer(0) ?? -1
    }
}
