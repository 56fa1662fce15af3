package import CountersignCore
import Foundation
import GRDB
import Synchronization

/// The embedded engine: one file, readers beside one writer, truly durable commits.
package final class SQLiteEngine: SQLEngine {
    package let dialect = SQLDialect(
        integer: "INTEGER", blob: "BLOB", sequence: "INTEGER PRIMARY KEY AUTOINCREMENT", tableOptions: "STRICT")
    private static let begin = SQLStatement("BEGIN")
    private static let commit = SQLStatement("COMMIT")

    package let wakes: any Wakes
    private let hub: WakeHub
    private let pool: DatabasePool
    private let committer: GroupCommitter

    /// Opens a database file, or makes it, readable by its owner alone.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - hub: who is told of commits.
    package init(path: String, hub: WakeHub) throws {
        self.hub = hub
        wakes = hub
        // Made here for its mode, which SQLite gives its side files too; never emptied, whoever was faster to make it.
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreError.unavailable }
        close(file)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = max(5, 2 * ProcessInfo.processInfo.activeProcessorCount)
        let pool = try storeErrors { try DatabasePool(path: path, configuration: configuration) }
        // The pool sets NORMAL when it turns the write-ahead log on, so FULL must come after.
        try storeErrors {
            try pool.writeWithoutTransaction { writer in
                try writer.execute(sql: "PRAGMA synchronous = FULL")
                try SQLiteDurability.demand(of: writer)
            }
        }
        self.pool = pool
        committer = GroupCommitter(pool: pool)
    }

    package var commitCount: CommitCount { committer.count }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try readHere(body)
    }

    /// Reads on the thread that asks: a read takes microseconds, and a change of threads costs more than that.
    ///
    /// There are more readers than threads that run tasks, so that none waits for another.
    private func readHere<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        try storeErrors {
            // In a transaction, so that all statements see one state; the pool's own compiles its statements each time.
            try pool.unsafeRead { database in
                let connection = SQLiteConnection(database: database)
                try connection.execute(Self.begin)
                defer { _ = try? connection.execute(Self.commit) }
                return try body(connection)
            }
        }
    }

    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> (Result, wakes: [WakeTopic])
    ) async throws -> Result {
        let (result, topics) = try await committer.commit(body)
        if !topics.isEmpty { hub.wake(topics) }
        return result
    }
}

extension StoreError {
    init(_ error: DatabaseError) {
        switch error.extendedResultCode {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
            self = .uniqueViolation(error.message ?? "")
            return
        default: break
        }
        switch error.resultCode.primaryResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .serializationFailure
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY:
            self = .unavailable
        default: self = .engine("\(error.resultCode) \(error.message ?? "")")
        }
    }
}

/// Runs something of the engine's, its errors turned into ours.
private func storeErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as DatabaseError { throw StoreError(error) }
}
