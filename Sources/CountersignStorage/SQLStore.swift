package import CountersignCore
package import CountersignWire
package import Logging

/// Implements Core's ``Store`` on any engine.
package struct SQLStore: Store {
    let engine: any SQLEngine
    let held: HeldKeys
    let issuer: Issuer
    let parsed = ParsedRows()
    private let events = EventCounts()
    let completeAudit = CompleteAudit()

    /// Notifies of commits of this store.
    package var changes: any ChangeNotifier { engine.changes }

    /// The commits since the store was opened.
    package var commitCount: CommitCount { engine.commitCount }

    /// The state of the connection pool; nil for an engine without a pool.
    package var poolStatistics: PoolStatistics? { engine.poolStatistics }

    /// The audit events committed since the store was opened, by kind.
    package var eventCounts: [AuditEventKind: Int] { events.counts }

    /// Opens a database on an engine.
    ///
    /// - Parameters:
    ///   - engine: the engine.
    ///   - masterKey: the master key that opens the database.
    ///   - issuer: the deployment's issuer.
    ///   - migrates: whether to upgrade an older schema; if not, an older schema is an error.
    ///   - elapsed: a monotonic clock for the age of keys.
    package init(
        engine: some SQLEngine, masterKey: MasterKey, issuer: Issuer, migrates: Bool = true,
        elapsed: @escaping @Sendable () -> Duration = SQLStore.elapsed
    ) async throws {
        let ring = try await engine.exclusively {
            try await Migrations.run(on: engine, migrates: migrates)
            return try await KeyWraps.open(on: engine, with: masterKey)
        }
        self.init(opened: engine, by: HeldKeys(ring, openedBy: masterKey, elapsed: elapsed), issuer: issuer)
    }

    private init(opened engine: some SQLEngine, by keys: HeldKeys, issuer: Issuer) {
        self.engine = engine
        self.issuer = issuer
        held = keys
    }

    /// A monotonic clock that also runs while the machine sleeps: the time since the first call.
    @Sendable package static func elapsed() -> Duration { ContinuousClock.now - firstCall }

    private static let firstCall = ContinuousClock.now

    /// Seals and opens values with the current keys.
    ///
    /// - Throws: ``StoreError/unavailable`` when the keys are too old.
    package var sealer: Sealer {
        get throws(StoreError) { try held.sealer() }
    }

    /// The PostgreSQL database cannot be used.
    package struct Unreachable: Error {
        /// The reason, in the words of libpq or of the server.
        package let reason: String
    }

    /// Opens a PostgreSQL database, and upgrades it to the newest schema.
    ///
    /// - Parameters:
    ///   - settings: where the database is and how to use it.
    ///   - hub: is notified of commits of this node and of other nodes.
    ///   - issuer: the deployment's issuer.
    ///   - logger: the log for losses of the connection.
    ///   - migrates: whether to upgrade an older schema; if not, an older schema is an error.
    ///   - masterKey: returns the master key, given whether the database is new.
    ///   - prepare: runs while no other node runs its own, for work that must be done only once when several nodes
    ///     start for the first time together.
    /// - Throws: ``Unreachable``, ``StoreError``, and any error of the closures.
    package static func open<Prepared: Sendable>(
        _ settings: PostgresSettings, hub: ChangeHub, issuer: Issuer, logger: Logger, migrates: Bool = true,
        masterKey: (_ isNew: Bool) throws -> MasterKey, prepare: (SQLStore) async throws -> Prepared
    ) async throws -> (store: SQLStore, masterKey: MasterKey, prepared: Prepared) {
        let engine: PostgresEngine
        do {
            engine = try await PostgresEngine(settings, hub: hub, logger: logger)
        } catch let error as PostgresEngine.Unreachable {
            throw Unreachable(reason: error.reason)
        }
        return try await engine.exclusively {
            try await Migrations.run(on: engine, migrates: migrates)
            let key = try masterKey(try await engine.read { try KeyWraps.read($0).masterKeys.isEmpty })
            let ring = try await KeyWraps.open(on: engine, with: key)
            let keys = HeldKeys(ring, openedBy: key, elapsed: elapsed)
            let store = SQLStore(opened: engine, by: keys, issuer: issuer)
            return (store, key, try await prepare(store))
        }
    }

    /// Takes or keeps the turn for work that only one node at a time may do.
    ///
    /// - Parameters:
    ///   - work: the name of the work.
    ///   - seconds: how long no other node gets the turn.
    /// - Returns: false when another node has the turn.
    package func takesTurn(at work: String, for turn: Seconds) async throws -> Bool {
        try await engine.takesTurn(at: work, for: turn)
    }

    /// Opens the SQLite database at a path, and upgrades it to the newest schema.
    package init(
        sqlite path: String, hub: ChangeHub, masterKey: MasterKey, issuer: Issuer, migrates: Bool = true
    ) async throws {
        try await self.init(
            engine: try SQLiteEngine(path: path, hub: hub), masterKey: masterKey, issuer: issuer, migrates: migrates)
    }

    /// Runs reads on a consistent state; see ``Store/read(_:)``.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result {
        try await reading { try body($0) }
    }

    /// Runs reads on a consistent state, with the storage target's own type.
    func reading<Result: Sendable>(
        _ body: @escaping @Sendable (SQLTransaction) throws -> Result
    ) async throws -> Result {
        let sealer = try sealer
        return try await engine.read { connection in
            try body(
                SQLTransaction(connection: connection, sealer: sealer, issuer: issuer, parsed: parsed, locksRows: false)
            )
        }
    }

    /// Runs a transaction; see ``Store/commit(_:)``.
    package func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result {
        try await committing { try body($0) }
    }

    /// Runs a transaction, with the storage target's own type.
    func committing<Result: Sendable>(
        _ body: @escaping @Sendable (SQLTransaction) throws -> Result
    ) async throws -> Result {
        let (result, kinds) = try await engine.write { connection in
            // Read when the transaction runs, not when it is queued, so that it does not seal with a retired key.
            let sealer = try sealer
            let transaction = SQLTransaction(
                connection: connection, sealer: sealer, issuer: issuer, parsed: parsed,
                locksRows: engine.dialect.locksRows)
            let result = try body(transaction)
            try transaction.writeEvents()
            return ((result, transaction.events.map(\.kind)), changes: transaction.topics)
        }
        events.add(kinds)
        return result
    }
}

/// Implements all of Core's stores within one transaction; its methods are in the files of their tables, in `Tables/`.
final class SQLTransaction: Stores {
    let connection: any SQLConnection
    let sealer: Sealer
    let issuer: Issuer
    let parsed: ParsedRows
    /// Whether rows that a decision depends on must be locked until the transaction ends.
    let locksRows: Bool
    private(set) var topics: [ChangeTopic] = []
    private var known: Set<ChangeTopic> = []
    /// The audit events, which are written together at the end.
    var events: [AuditEvent] = []

    init(
        connection: any SQLConnection, sealer: Sealer, issuer: Issuer, parsed: ParsedRows, locksRows: Bool
    ) {
        self.connection = connection
        self.sealer = sealer
        self.issuer = issuer
        self.parsed = parsed
        self.locksRows = locksRows
    }

    func notify(_ topic: ChangeTopic) {
        if known.insert(topic).inserted { topics.append(topic) }
    }

    func first<Value>(
        _ statement: SQLStatement, _ arguments: [SQLValue], _ read: (SQLRow) throws -> Value
    ) throws -> Value? {
        try connection.rows(statement, arguments).first.map(read)
    }

    func all<Value>(
        _ statement: SQLStatement, _ arguments: [SQLValue], _ read: (SQLRow) throws -> Value
    ) throws -> [Value] {
        try connection.rows(statement, arguments).map(read)
    }
}

extension String {
    /// A list of columns with the name of their table, for a statement that joins tables.
    func qualified(by table: String) -> String {
        split { $0 == "," || $0.isWhitespace }.map { "\(table).\($0)" }.joined(separator: ", ")
    }
}

extension Timestamp {
    var value: SQLValue { .integer(milliseconds) }
}

extension ID {
    var value: SQLValue { .text(description) }
}

extension SQLRow {
    func time(_ column: Int) throws -> Timestamp { Timestamp(milliseconds: try integer(column)) }

    func optionalTime(_ column: Int) throws -> Timestamp? {
        try optionalInteger(column).map(Timestamp.init(milliseconds:))
    }

    func id<Kind>(_ column: Int) throws -> ID<Kind> { try value(column) { ID<Kind>($0) } }

    func optionalID<Kind>(_ column: Int) throws -> ID<Kind>? { try optionalValue(column) { ID<Kind>($0) } }
}
