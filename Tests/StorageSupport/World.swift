package import CountersignCore
package import CountersignStorage
import CountersignWire
import Encodings
import Foundation
package import Logging
package import TestSupport

/// The fixture for tests of operations: a real store in a new folder, a scripted clock and seeded random bytes.
package struct World: Sendable {
    /// The issuer of every fixture.
    package static let issuer = "https://login.example.com"

    /// Something that a test needs is missing.
    package struct Broken: Error {
        /// The missing thing.
        package let what: String

        package init(_ what: String) {
            self.what = what
        }
    }

    /// The folder with the SQLite database.
    package let folder: TemporaryFolder
    /// The PostgreSQL database, if the engine is PostgreSQL.
    package let postgres: PostgresDatabase?
    private let kind: Engine
    package let engine: any SQLEngine
    package let store: SQLStore
    /// Notifies waiting tasks.
    package let hub: ChangeHub
    package let time: ScriptedTime
    /// The source of random bytes.
    package let random: SeededRandom
    package let hooks = ScriptedHooks()
    package let clientKeys = ScriptedClientKeys()
    package let captchas = ScriptedCaptchas()
    /// The external dependencies of operations.
    package let ports: Ports

    /// Creates a fixture with an empty database, in which the tables are already.
    package init(_ engine: Engine = .chosen, seed: UInt64 = 1) async throws {
        let folder = try TemporaryFolder()
        if engine == .sqlite {
            let file = try await Self.migrated.value
            let isMade = FileManager.default.createFile(
                atPath: Self.database(in: folder), contents: file, attributes: [.posixPermissions: 0o600])
            guard isMade else { throw Broken("database file") }
        }
        let database = try await engine == .postgresql ? PostgresDatabase.make(isMigrated: true) : nil
        try await self.init(engine, in: folder, of: database, time: ScriptedTime(), seed: seed)
    }

    /// The file of a SQLite database with the newest schema and nothing else.
    ///
    /// A copy of it is made sooner than all tables are created.
    private static let migrated: Task<Data, any Error> = Task {
        let folder = try TemporaryFolder()
        let engine = try SQLiteEngine(path: database(in: folder), hub: ChangeHub(time: ScriptedTime()))
        try await Migrations.run(on: engine)
        _ = try SQLiteBackup.make(of: database(in: folder), at: folder.path("copy.sqlite"))
        return Data(try folder.read("copy.sqlite"))
    }

    /// Opens the same database again, as after a restart: with new connections, subscribers and random bytes.
    package func reopened(seed: UInt64 = 2) async throws -> World {
        try await World(kind, in: folder, of: postgres, time: time, seed: seed)
    }

    /// Creates a fixture in a folder, as at a first start if the folder is empty.
    ///
    /// - Parameters:
    ///   - engine: the database engine.
    ///   - folder: the folder for the database.
    ///   - postgres: an existing PostgreSQL database; nil for a new one.
    ///   - time: the clock.
    ///   - seed: the seed of the random bytes.
    ///   - wrap: wraps the engine for the store; does nothing by default.
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
            hooks: hooks, clientKeys: clientKeys, captchas: captchas, rsaKeys: FirstRSAKeys(of: folder.url.path),
            logger: logger)
    }

    /// The issuer's keys that were read last.
    package var issuerKeys: IssuerKeys {
        get throws { try ports.keys.current() }
    }

    /// The same dependencies with other transports to people.
    package func ports(sendingBy transports: Transports) -> Ports {
        Ports(
            issuer: ports.issuer, store: store, changes: hub, time: time, clock: ContinuousClock(), random: random,
            hasher: ports.hasher,
            keys: ports.keys, transports: transports, hooks: hooks, clientKeys: clientKeys, captchas: captchas,
            logger: ports.logger)
    }

    /// The same dependencies with another log, and with another store if one is given.
    package func ports(on other: (any Store)? = nil, loggingTo logger: Logger) -> Ports {
        Ports(
            issuer: ports.issuer, store: other ?? store, changes: hub, time: time, clock: ContinuousClock(),
            random: random,
            hasher: ports.hasher,
            keys: ports.keys, transports: ports.transports, hooks: hooks, clientKeys: clientKeys, captchas: captchas,
            logger: logger)
    }

    /// The same dependencies with other limits, and with another log if one is given.
    package func ports(limits: ClientLimits, loggingTo logger: Logger? = nil) -> Ports {
        Ports(
            issuer: ports.issuer, store: store, changes: hub, time: time, clock: ContinuousClock(), random: random,
            hasher: ports.hasher,
            keys: ports.keys, transports: ports.transports, limits: limits, hooks: hooks,
            clientKeys: clientKeys, captchas: captchas, logger: logger ?? ports.logger)
    }

    /// The master key of every fixture.
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

    /// Runs one statement in its own transaction and returns the rows.
    ///
    /// - Parameters:
    ///   - text: the statement in SQLite's dialect; `x'00'`, `BLOB` and `char()` are translated for the engine.
    ///   - arguments: its arguments.
    @discardableResult
    package func sql(_ text: String, _ arguments: [SQLValue] = []) async throws -> [SQLRow] {
        let statement = SQLStatement(kind.spelled(text))
        return try await engine.write { (try $0.rows(statement, arguments), changes: []) }
    }

    /// Opens the database again with a master key.
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

    /// The number of rows in a table that meet a condition.
    package func count(_ table: String, where condition: String = "1 = 1") async throws -> Int64 {
        let rows = try await sql("SELECT count(*) FROM \(table) WHERE \(condition)")
        return try rows.first?.integer(0) ?? -1
    }
}
