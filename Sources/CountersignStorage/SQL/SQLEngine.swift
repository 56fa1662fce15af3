package import CountersignCore
import Synchronization
package import CountersignWire

/// An argument or a column of a statement; times are whole milliseconds.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    package static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
    package static func optional(_ number: Int64?) -> SQLValue { number.map(SQLValue.integer) ?? .null }
    package static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? .null }
}

/// A statement that both engines understand.
///
/// Its placeholders are `$1`, `$2`, …
package struct SQLStatement: Sendable {
    package let text: String
    /// The index of the argument for each placeholder, by first appearance, which is how SQLite numbers them.
    package let argumentsByAppearance: [Int]
    /// The hash of the text, computed only once, because connections look up their prepared statements at every run.
    private let textHash: Int
    /// Whether the statement may change rows: unless it begins as a query, or begins or ends a transaction.
    let mayWrite: Bool
    /// Whether the statement changes a row, whatever rows there are.
    let alwaysWrites: Bool

    package init(_ text: String) {
        self.text = text
        mayWrite = !["SELECT", "BEGIN", "COMMIT", "ROLLBACK"].contains { text.hasPrefix($0) }
        alwaysWrites = text.hasPrefix("INSERT") && text.contains("VALUES (") && !text.contains("ON CONFLICT")
        textHash = text.hashValue
        var order: [Int] = []
        for part in text.split(separator: "$").dropFirst(text.first == "$" ? 0 : 1) {
            guard let number = Int(part.prefix { $0.isNumber }), !order.contains(number - 1) else { continue }
            order.append(number - 1)
        }
        argumentsByAppearance = order
    }
}

extension SQLStatement: Hashable {
    /// Compares the texts.
    package static func == (left: SQLStatement, right: SQLStatement) -> Bool { left.text == right.text }

    /// Hashes the precomputed hash of the text.
    package func hash(into hasher: inout Hasher) { hasher.combine(textHash) }
}

/// A connection inside a transaction.
///
/// It is synchronous, so no network call of an operation can happen inside a transaction.
package protocol SQLConnection {
    /// Runs a statement and returns its rows.
    func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow]

    /// Runs a statement with each list of arguments and returns the rows of each, in order.
    ///
    /// An engine may send all of them in one round trip.
    func rows(_ statement: SQLStatement, each arguments: [[SQLValue]]) throws -> [[SQLRow]]

    /// Runs a statement and returns the number of rows that it changed.
    @discardableResult
    func execute(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> Int

    /// Runs a statement whose result is not needed.
    ///
    /// Its failure may be thrown by a later statement of the transaction, or by the commit.
    func send(_ statement: SQLStatement, _ arguments: [SQLValue]) throws

    /// Whether the transaction has surely changed a row, and so has its number, by which others see that it runs.
    var hasNumber: Bool { get }
}

extension SQLConnection {
    /// Runs the statement once for each list, for an engine without round trips.
    package func rows(_ statement: SQLStatement, each arguments: [[SQLValue]]) throws -> [[SQLRow]] {
        try arguments.map { try rows(statement, $0) }
    }

    /// False, for an engine whose transactions run one after the other.
    package var hasNumber: Bool { false }

    /// Runs the statement at once, for an engine that gains nothing by waiting.
    package func send(_ statement: SQLStatement, _ arguments: [SQLValue]) throws {
        try execute(statement, arguments)
    }
}

/// A database.
///
/// Of its own errors it throws only ``StoreError``.
package protocol SQLEngine: Sendable {
    /// The type names and clauses in which the engines differ.
    var dialect: SQLDialect { get }

    /// Notifies of commits.
    var changes: any ChangeNotifier { get }

    /// The commits since it was opened.
    var commitCount: CommitCount { get }

    /// The state of the connection pool; nil for an engine without a pool.
    var poolStatistics: PoolStatistics? { get }

    /// Runs reads on a consistent state.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result

    /// Runs a transaction; the notifications are sent when it commits.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> (Result, changes: [ChangeTopic])
    ) async throws -> Result

    /// Runs something while no other node runs anything through this function.
    func exclusively<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result

    /// Takes or keeps the turn for work that only one node at a time may do.
    ///
    /// - Parameters:
    ///   - work: the name of the work.
    ///   - seconds: how long no other node gets the turn.
    /// - Returns: false when another node has the turn.
    func takesTurn(at work: String, for turn: Seconds) async throws -> Bool
}

extension SQLEngine {
    /// Runs it at once, because only this process uses the database.
    package func exclusively<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await body()
    }

    /// Nil, because there is no connection pool.
    package var poolStatistics: PoolStatistics? { nil }

    /// True, because only this process uses the database.
    package func takesTurn(at work: String, for turn: Seconds) async throws -> Bool { true }
}

/// Counts the statements that this process runs, those that begin and end transactions included.
package enum StatementCount {
    private static let count = Atomic<Int>(0)

    /// The statements since the start.
    package static var total: Int { count.load(ordering: .relaxed) }

    static func note() { count.wrappingAdd(1, ordering: .relaxed) }
}

/// The number of durable writes and of the commits that contained them; each commit is one sync of the disk.
package struct CommitCount: Hashable, Sendable {
    package var commits = 0
    /// The writes in these commits.
    package var writes = 0
    /// How often a transaction was run again because it conflicted with another.
    package var clashes = 0
    /// How often the database was asked for the result of a commit that got no reply.
    package var lookups = 0

    package init() {}
}

/// The state of a connection pool at one moment.
package struct PoolStatistics: Hashable, Sendable {
    package let openConnections: Int
    /// The connections that are in use.
    package let busyConnections: Int
    /// The number of reads and writes that wait for a connection.
    package let waitingJobs: Int
    /// How long the oldest of them has waited.
    package let longestWait: Duration
    /// Whether the database cannot be reached.
    package let isAway: Bool
}

/// The SQL in which the engines differ: in migrations, and where work is leased.
package struct SQLDialect: Sendable {
    /// The type of a 64-bit integer.
    package let integer: String
    /// The type of a sequence of bytes.
    package let blob: String
    /// The type of a 64-bit integer that the database counts up.
    package let sequence: String
    /// The options after a table's columns.
    package let tableOptions: String
    /// The options after the columns of a table whose rows are small and are found by a key that is not a number.
    package let narrowTableOptions: String
    /// The clause that makes a selection of rows skip the ones locked by other nodes.
    package let skipLocked: String
    /// Whether write transactions run concurrently, so that rows that a decision depends on must be locked.
    package var locksRows: Bool { !skipLocked.isEmpty }

    package init(
        integer: String, blob: String, sequence: String, tableOptions: String, narrowTableOptions: String,
        skipLocked: String
    ) {
        self.integer = integer
        self.blob = blob
        self.sequence = sequence
        self.tableOptions = tableOptions
        self.narrowTableOptions = narrowTableOptions
        self.skipLocked = skipLocked
    }
}

/// A row, read by column index; a column of an unexpected type throws ``StoreError/corruptRow(_:)``.
package struct SQLRow: Sendable {
    private let values: [SQLValue]

    package init(_ values: [SQLValue]) {
        self.values = values
    }

    /// The row without its first columns.
    package func dropping(_ count: Int) -> SQLRow { SQLRow(Array(values.dropFirst(count))) }

    /// The values of some columns.
    package subscript(_ columns: Range<Int>) -> [SQLValue] { Array(values[columns]) }

    package func text(_ column: Int) throws -> String {
        guard let text = try optionalText(column) else { throw corrupt(column) }
        return text
    }

    package func optionalText(_ column: Int) throws -> String? {
        switch values[column] {
        case .text(let text): return text
        case .null: return nil
        case .integer, .blob: throw corrupt(column)
        }
    }

    package func integer(_ column: Int) throws -> Int64 {
        guard let number = try optionalInteger(column) else { throw corrupt(column) }
        return number
    }

    package func optionalInteger(_ column: Int) throws -> Int64? {
        switch values[column] {
        case .integer(let number): return number
        case .null: return nil
        case .text, .blob: throw corrupt(column)
        }
    }

    package func blob(_ column: Int) throws -> [UInt8] {
        guard let bytes = try optionalBlob(column) else { throw corrupt(column) }
        return bytes
    }

    package func optionalBlob(_ column: Int) throws -> [UInt8]? {
        switch values[column] {
        case .blob(let bytes): return bytes
        case .null: return nil
        case .text, .integer: throw corrupt(column)
        }
    }

    /// The value that `read` parses from a text; nil from `read` throws ``StoreError/corruptRow(_:)``.
    package func value<Value>(_ column: Int, _ read: (String) -> Value?) throws -> Value {
        guard let value = read(try text(column)) else { throw corrupt(column) }
        return value
    }

    /// The value that `read` parses from a text that may be NULL.
    package func optionalValue<Value>(_ column: Int, _ read: (String) -> Value?) throws -> Value? {
        guard let text = try optionalText(column) else { return nil }
        guard let value = read(text) else { throw corrupt(column) }
        return value
    }

    private func corrupt(_ column: Int) -> StoreError { .corruptRow("column \(column)") }
}
