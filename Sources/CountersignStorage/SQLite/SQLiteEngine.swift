package import CountersignCore
import Foundation
package import GRDB
import Synchronization

/// The embedded engine: one file, concurrent readers, one writer, and durable commits.
package final class SQLiteEngine: SQLEngine {
    package let dialect = SQLDialect.sqlite

    package let changes: any ChangeNotifier
    private let hub: ChangeHub
    private let readers: SQLiteReaders
    private let committer: GroupCommitter

    /// Opens a database file, and creates it if needed, readable only by its owner.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - hub: is notified of commits.
    package init(path: String, hub: ChangeHub) throws {
        self.hub = hub
        changes = hub
        // Created here to set its mode, which SQLite also uses for its side files. It is never truncated, because
        // another process may have created it first.
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreError.unavailable }
        close(file)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(10)
        configuration.journalMode = .wal
        let writer = try storeErrors { try DatabaseQueue(path: path, configuration: configuration) }
        // Only the address leaves the closure. GRDB closes the connection, and the statements may be finalized later.
        let address = try storeErrors {
            try writer.writeWithoutTransaction { database in
                // GRDB sets NORMAL when it turns on the write-ahead log, so FULL must be set afterwards.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // The statement journal for savepoints stays in memory, so that no file is created for it.
                try database.execute(sql: "PRAGMA temp_store = MEMORY")
                // 64 MiB: with the usual 2 MB, a change in a database of gigabytes reads most pages of its indexes
                // again each time.
                try database.execute(sql: "PRAGMA cache_size = -65536")
                try SQLiteDurability.demand(of: database)
                return UInt(bitPattern: database.sqliteConnection)
            }
        }
        guard let handle = OpaquePointer(bitPattern: address) else { throw StoreError.unavailable }
        committer = GroupCommitter(writer: writer, statements: SQLiteStatements(of: handle, isOwner: false))
        readers = SQLiteReaders(path: path)
    }

    package var commitCount: CommitCount { committer.count }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        // Runs on the caller's thread: a read takes microseconds, less than a change of threads.
        try storeErrors { try readers.read(body) }
    }

    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> (Result, changes: [ChangeTopic])
    ) async throws -> Result {
        let (result, topics) = try await committer.commit(body)
        if !topics.isEmpty { hub.notify(topics) }
        return result
    }
}

extension SQLDialect {
    package static let sqlite = SQLDialect(
        integer: "INTEGER", blob: "BLOB", sequence: "INTEGER PRIMARY KEY AUTOINCREMENT", tableOptions: "STRICT",
        narrowTableOptions: "STRICT, WITHOUT ROWID",
        skipLocked: "")
}

extension StoreError {
    /// Translates an error of SQLite.
    package init(_ error: DatabaseError) {
        switch error.extendedResultCode {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
            self = .uniqueViolation(error.message ?? "")
            return
        default: break
        }
        switch error.resultCode.primaryResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .serializationFailure
        case .SQLITE_FULL: self = .full
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY:
            self = .unavailable
        default: self = .engine("\(error.resultCode) \(error.message ?? "")")
        }
    }
}

/// Runs something, and translates the errors of SQLite.
private func storeErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as DatabaseError { throw StoreError(error) }
}
