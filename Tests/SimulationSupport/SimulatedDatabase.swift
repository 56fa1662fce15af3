import CountersignCore
import CountersignStorage
import GRDB
import GRDBSQLite

/// The database of a simulation: SQLite in memory, with the real schema and statements, one transaction at a time.
///
/// It survives the nodes.
final class SimulatedDatabase: @unchecked Sendable {
    private static let begin = SQLStatement("BEGIN IMMEDIATE")
    private static let commit = SQLStatement("COMMIT")
    private static let rollback = SQLStatement("ROLLBACK")

    /// Runs after each commit, to check the invariants.
    var afterCommit: (any SQLConnection) throws -> Void = { _ in }
    private(set) var commits = CommitCount()
    private let connection: CountersignStorage.SQLiteConnection
    private var turns: [String: (holder: Int, until: Duration)] = [:]

    init() throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(":memory:", &handle, flags, nil)
        guard code == SQLITE_OK, let handle else { throw StoreError.unavailable }
        sqlite3_extended_result_codes(handle, 1)
        connection = CountersignStorage.SQLiteConnection(statements: SQLiteStatements(of: handle, isOwner: true))
        try connection.execute(SQLStatement("PRAGMA foreign_keys = ON"))
    }

    /// Runs a transaction.
    ///
    /// - Parameters:
    ///   - isKept: whether it is committed.
    ///   - wrap: wraps the connection for the body.
    ///   - body: the work of the transaction.
    func transaction<Result>(
        isKept: Bool, _ wrap: (any SQLConnection) -> any SQLConnection = { $0 },
        _ body: (any SQLConnection) throws -> Result
    ) throws -> Result {
        do {
            try connection.execute(Self.begin)
            let result: Result
            do {
                result = try body(wrap(connection))
                try connection.execute(isKept ? Self.commit : Self.rollback)
            } catch {
                try connection.execute(Self.rollback)
                throw error
            }
            if isKept {
                commits.commits += 1
                commits.writes += 1
                try afterCommit(connection)
            }
            return result
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }

    /// Reads without faults, for checks.
    func look<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        do { return try body(connection) } catch let error as DatabaseError { throw StoreError(error) }
    }

    func takesTurn(at work: String, _ holder: Int, until: Duration, now: Duration) -> Bool {
        if let turn = turns[work], turn.holder != holder, turn.until > now { return false }
        turns[work] = (holder, until)
        return true
    }
}
