package import CountersignCore
package import CountersignWire
package import Logging

/// Core's ``Store``, over any engine.
package struct SQLStore: Store {
    let engine: any SQLEngine
    let held: HeldKeys
    let issuer: Issuer
    let parsed = ParsedRows()
    private let events = EventCounts()
    let completeAudit = CompleteAudit()

    /// Who waits for commits of this store.
    package var changes: any ChangeNotifier { engine.changes }

    /// How much was committed since it was opened.
    package var commitCount: CommitCount { engine.commitCount }

    /// How the connections to the database stand; nil where there are none.
    package var poolStatistics: PoolStatistics? { engine.poolStatistics }

    /// The events of the audit that were committed since it was opened, by kind.
    package var eventCounts: [AuditEventKind: Int] { events.counts }

    /// Opens a database over an engine.
    ///
    /// - Parameters:
    ///   - engine: the engine.
    ///   - masterKey: the key that opens it.
    ///   - issuer: the deployment.
    ///   - migrates: whether an older schema is brought to the newest one; otherwise it is refused.
    ///   - elapsed: by what clock keys get old.
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

    /// The time since the first call, by a clock that nobody sets and that goes on while the machine sleeps.
    @Sendable package static func elapsed() -> Duration { ContinuousClock.now - firstCall }

    private static let firstCall = ContinuousClock.now

    /// What seals and opens.
    ///
    /// - Throws: ``StoreError/unavailable`` when the keys are too old.
    package var sealer: Sealer {
        get throws(StoreError) { try held.sealer() }
    }

    /// The PostgreSQL database cannot be used.
    package struct Unreachable: Error {
        /// Why, in the words of libpq or the server.
        package let reason: String
    }

    /// Opens a PostgreSQL database and brings it to the newest schema.
    ///
    /// - Parameters:
    ///   - settings: where it is and how to use it.
    ///   - hub: who is told of commits, of this node and of others.
    ///   - issuer: the issuer.
    ///   - logger: where to tell that the database is away.
    ///   - migrates: whether an older schema is brought to the newest one; otherwise it is refused.
    ///   - masterKey: what secrets are sealed with, for a database that has none yet or has some.
    ///   - prepare: done while no other node does its own: what several first starts at once must do once.
    /// - Throws: ``Unreachable``, ``StoreError``, and what the closures throw.
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

    /// Takes or keeps the turn at work that one node at a time does.
    ///
    /// - Parameters:
    ///   - work: what is done.
    ///   - seconds: for how long no other node gets the turn.
    /// - Returns: false when it is another node's turn.
    package func takesTurn(at work: String, seconds: Int64) async throws -> Bool {
        try await engine.takesTurn(at: work, seconds: seconds)
    }

    /// Opens the embedded database at a path and brings it to the newest schema.
    package init(
        sqlite path: String, hub: ChangeHub, masterKey: MasterKey, issuer: Issuer, migrates: Bool = true
    ) async throws {
        try await self.init(
            engine: try SQLiteEngine(path: path, hub: hub), masterKey: masterKey, issuer: issuer, migrates: migrates)
    }

    /// Reads a consistent state.
    ///
    /// See ``Store/read(_:)``.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result {
        try await reading { try body($0) }
    }

    /// Reads a consistent state, by what the storage alone knows of.
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

    /// Runs a transaction.
    ///
    /// See ``Store/commit(_:)``.
    package func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result {
        try await committing { try body($0) }
    }

    /// Runs a transaction, by what the storage alone knows of.
    func committing<Result: Sendable>(
        _ body: @escaping @Sendable (SQLTransaction) throws -> Result
    ) async throws -> Result {
        let (result, kinds) = try await engine.write { connection in
            // Asked for when it runs: what waited for its turn must not seal by a key of before.
            let sealer = try sealer
            let transaction = SQLTransaction(
                connection: connection, sealer: sealer, issuer: issuer, parsed: parsed,
                locksRows: engine.dialect.locksRows)
            let result = try body(transaction)
            return ((result, transaction.events), changes: transaction.topics)
        }
        events.add(kinds)
        return result
    }
}

/// Core's reads and writes inside one transaction.
///
/// Its methods stand with the tables they are about, in `Tables/`.
final class SQLTransaction: Stores {
    let connection: any SQLConnection
    let sealer: Sealer
    let issuer: Issuer
    let parsed: ParsedRows
    /// Whether what a decision rests on must be kept from changing until the transaction ends.
    let locksRows: Bool
    private(set) var topics: [ChangeTopic] = []
    /// The kinds of the events appended.
    var events: [AuditEventKind] = []
    /// Whether the transaction has a number of the database's by which others see that it is not over.
    var isNumbered = false

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
        topics.append(topic)
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
