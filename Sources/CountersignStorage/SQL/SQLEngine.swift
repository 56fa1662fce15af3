package import CountersignCore

/// A value that goes into or comes out of a statement.
///
/// Times are whole milliseconds.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    package static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
    package static func optional(_ number: Int64?) -> SQLValue { number.map(SQLValue.integer) ?? .null }
    package static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? .null }
}

/// A statement both engines read.
///
/// Placeholders are `$1`, `$2`, …
package struct SQLStatement: Sendable {
    package let text: String
    /// Which argument each placeholder means, by its first appearance: the way SQLite numbers them.
    package let argumentsByAppearance: [Int]
    /// The hash of the text, computed once: connections look their prepared statements up for every run.
    private let textHash: Int
    /// Whether it may change rows; it may when it does not begin as one that reads, or begins or ends a transaction.
    let mayWrite: Bool

    package init(_ text: String) {
        self.text = text
        mayWrite = !["SELECT", "BEGIN", "COMMIT", "ROLLBACK"].contains { text.hasPrefix($0) }
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
    /// Equal texts.
    package static func == (left: SQLStatement, right: SQLStatement) -> Bool { left.text == right.text }

    /// Feeds the hash of the text.
    package func hash(into hasher: inout Hasher) { hasher.combine(textHash) }
}

/// A connection inside a transaction.
///
/// Everything is synchronous: no network call can sit inside one.
package protocol SQLConnection {
    /// The rows a statement gives.
    func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow]

    /// The rows a statement gives with each of these arguments, in their order: of many at once none waits for another's
    /// way to the database and back.
    func rows(_ statement: SQLStatement, each arguments: [[SQLValue]]) throws -> [[SQLRow]]

    /// Runs a statement and tells how many rows it changed.
    @discardableResult
    func execute(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> Int

    /// Runs a statement of which nobody needs to know how many rows it changed.
    ///
    /// Its failure may come out of a later statement of the transaction, or of its commit.
    func send(_ statement: SQLStatement, _ arguments: [SQLValue]) throws
}

extension SQLConnection {
    /// Runs it with one after the other, where there is no way to go.
    package func rows(_ statement: SQLStatement, each arguments: [[SQLValue]]) throws -> [[SQLRow]] {
        try arguments.map { try rows(statement, $0) }
    }

    /// Runs it at once, where nothing is gained by waiting.
    package func send(_ statement: SQLStatement, _ arguments: [SQLValue]) throws {
        try execute(statement, arguments)
    }
}

/// A database.
///
/// Throws ``StoreError`` and nothing else of its own.
package protocol SQLEngine: Sendable {
    /// How migrations name types that the engines name differently.
    var dialect: SQLDialect { get }

    /// Who waits for commits.
    var changes: any ChangeNotifier { get }

    /// How much was committed since it was opened.
    var commitCount: CommitCount { get }

    /// How the connections to the database stand; nil for an engine without.
    var poolStatistics: PoolStatistics? { get }

    /// Reads a consistent state.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result

    /// Runs a transaction; the notices leave with its commit.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> (Result, changes: [ChangeTopic])
    ) async throws -> Result

    /// Does something while no other node does something by this function.
    func exclusively<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result

    /// Takes or keeps the turn at work that one node at a time does.
    ///
    /// - Parameters:
    ///   - work: what is done.
    ///   - seconds: for how long no other node gets the turn.
    /// - Returns: false when it is another node's turn.
    func takesTurn(at work: String, seconds: Int64) async throws -> Bool
}

extension SQLEngine {
    /// Does it at once: the database is this process's alone.
    package func exclusively<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await body()
    }

    /// Nil: there is nothing to connect to.
    package var poolStatistics: PoolStatistics? { nil }

    /// True: the database is this process's alone.
    package func takesTurn(at work: String, seconds: Int64) async throws -> Bool { true }
}

/// How many writes became lasting, and in how many commits: each commit is one sync of the disk.
package struct CommitCount: Hashable, Sendable {
    /// The commits.
    package var commits = 0
    /// The writes in them.
    package var writes = 0
    /// How often a transaction had to be run again because it clashed with another.
    package var clashes = 0
    /// How often the database was asked what became of a commit that got no reply.
    package var lookups = 0

    package init() {}
}

/// How the connections to a database stand at one moment, and what waits for them.
package struct PoolStatistics: Hashable, Sendable {
    /// The connections that are open.
    package let openConnections: Int
    /// Those of them on which something is done.
    package let busyConnections: Int
    /// How many reads and writes wait for a connection.
    package let waitingJobs: Int
    /// For how long the first of them has waited.
    package let longestWait: Duration
    /// Whether nobody can connect.
    package let isAway: Bool
}

/// The words in which the engines differ: in migrations, and where work is leased.
package struct SQLDialect: Sendable {
    /// A 64-bit integer.
    package let integer: String
    /// A sequence of bytes.
    package let blob: String
    /// A 64-bit integer that counts up by itself.
    package let sequence: String
    /// What stands behind a table's columns.
    package let tableOptions: String
    /// What stands behind a choice of rows to work on, so that no two nodes choose the same.
    package let skipLocked: String
    /// Whether transactions that write run beside each other, so that what one rests on must be locked.
    package var locksRows: Bool { !skipLocked.isEmpty }

    package init(integer: String, blob: String, sequence: String, tableOptions: String, skipLocked: String) {
        self.integer = integer
        self.blob = blob
        self.sequence = sequence
        self.tableOptions = tableOptions
        self.skipLocked = skipLocked
    }
}

/// One row, read by position; a column that is not what it must be is a ``StoreError/corruptRow(_:)``.
package struct SQLRow: Sendable {
    private let values: [SQLValue]

    package init(_ values: [SQLValue]) {
        self.values = values
    }

    /// Some columns as they are.
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

    /// What `read` makes of a text.
    package func value<Value>(_ column: Int, _ read: (String) -> Value?) throws -> Value {
        guard let value = read(try text(column)) else { throw corrupt(column) }
        return value
    }

    /// What `read` makes of a text that may be missing.
    package func optionalValue<Value>(_ column: Int, _ read: (String) -> Value?) throws -> Value? {
        guard let text = try optionalText(column) else { return nil }
        guard let value = read(text) else { throw corrupt(column) }
        return value
    }

    private func corrupt(_ column: Int) -> StoreError { .corruptRow("column \(column)") }
}
