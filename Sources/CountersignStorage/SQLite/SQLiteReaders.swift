import CountersignCore
import GRDB
import GRDBSQLite
import Synchronization

/// Connections that only read: as many as there were ever reads at the same time.
///
/// A read runs on the thread that asks, so there are never more of them than threads that run tasks, and nobody waits
/// for a connection.
final class SQLiteReaders: Sendable {
    private static let begin = SQLStatement("BEGIN")
    private static let commit = SQLStatement("COMMIT")
    /// How long to wait for a lock, in milliseconds.
    private static let patience: CInt = 10_000

    /// One connection.
    private final class Reader: Sendable {
        let statements: Mutex<SQLiteStatements>

        /// Whether its last transaction has ended.
        var isFree: Bool { statements.withLock { !SQLiteConnection(statements: $0).isInsideTransaction } }

        init(path: String) throws {
            var handle: OpaquePointer?
            let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
            // There is a handle to close even when it could not be opened.
            guard let handle else { throw StoreError.unavailable }
            let statements = SQLiteStatements(of: handle, isOwner: true)
            guard code == SQLITE_OK else { throw statements.error(code) }
            sqlite3_extended_result_codes(handle, 1)
            sqlite3_busy_timeout(handle, SQLiteReaders.patience)
            self.statements = Mutex(statements)
        }
    }

    private let path: String
    /// The last one used is the first to be used again: it has most in memory.
    private let idle = Mutex<[Reader]>([])

    /// Readers of a database that is open for writing.
    init(path: String) {
        self.path = path
    }

    /// Reads in a transaction, so that all statements see one state.
    func read<Result: Sendable>(_ body: @Sendable (any SQLConnection) throws -> Result) throws -> Result {
        let reader = try idle.withLock { $0.popLast() } ?? Reader(path: path)
        // One that is left in a transaction, whatever the reason, would show its state for ever.
        defer { if reader.isFree { idle.withLock { $0.append(reader) } } }
        return try reader.statements.withLock { statements in
            let connection = SQLiteConnection(statements: statements)
            try connection.execute(Self.begin)
            defer { _ = try? connection.execute(Self.commit) }
            return try body(connection)
        }
    }
}
