import CountersignCore
import GRDB
import GRDBSQLite
import Synchronization

/// A pool of read-only connections, which grows to the largest number of concurrent reads.
///
/// A read runs on the caller's thread, so there are never more connections than threads that run tasks, and no read
/// waits for a connection.
final class SQLiteReaders: Sendable {
    private static let begin = SQLStatement("BEGIN")
    private static let commit = SQLStatement("COMMIT")
    /// How long to wait for a lock, in milliseconds.
    private static let patience: CInt = 10_000

    private final class Reader: Sendable {
        let statements: Mutex<SQLiteStatements>

        /// Whether its last transaction has ended.
        var isFree: Bool { statements.withLock { !SQLiteConnection(statements: $0).isInsideTransaction } }

        init(path: String) throws {
            var handle: OpaquePointer?
            let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
            // SQLite returns a handle that must be closed even when opening failed.
            guard let handle else { throw StoreError.unavailable }
            let statements = SQLiteStatements(of: handle, isOwner: true)
            guard code == SQLITE_OK else { throw statements.error(code) }
            sqlite3_extended_result_codes(handle, 1)
            sqlite3_busy_timeout(handle, SQLiteReaders.patience)
            self.statements = Mutex(statements)
        }
    }

    private let path: String
    /// The most recently used connection is reused first, because its cache is the warmest.
    private let idle = Mutex<[Reader]>([])

    init(path: String) {
        self.path = path
    }

    /// Reads in one transaction, so that all statements see the same state.
    func read<Result: Sendable>(_ body: @Sendable (any SQLConnection) throws -> Result) throws -> Result {
        let reader = try idle.withLock { $0.popLast() } ?? Reader(path: path)
        // A connection that is still in a transaction is dropped, because it would show the old state forever.
        defer { if reader.isFree { idle.withLock { $0.append(reader) } } }
        return try reader.statements.withLock { statements in
            let connection = SQLiteConnection(statements: statements)
            try connection.execute(Self.begin)
            defer { _ = try? connection.execute(Self.commit) }
            return try body(connection)
        }
    }
}
