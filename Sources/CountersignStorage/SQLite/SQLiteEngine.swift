package import CountersignCore
import Foundation
package import GRDB
import Synchronization

/// The embedded engine: one file, readers beside one writer, truly durable commits.
package final class SQLiteEngine: SQLEngine {
    package let dialect = SQLDialect.sqlite

    package let changes: any ChangeNotifier
    private let hub: ChangeHub
    private let readers: SQLiteReaders
    private let committer: GroupCommitter

    /// Opens a database file, or makes it, readable by its owner alone.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - hub: who is told of commits.
    package init(path: String, hub: ChangeHub) throws {
        self.hub = hub
        changes = hub
        // Made here for its mode, which SQLite gives its side files too; never emptied, whoever was faster to make it.
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreError.unavailable }
        close(file)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(10)
        configuration.journalMode = .wal
        let writer = try storeErrors { try DatabaseQueue(path: path, configuration: configuration) }
        // The address alone leaves the closure: GRDB closes the connection, and its statements are finalized whenever.
        let address = try storeErrors {
            try writer.writeWithoutTransaction { database in
                // GRDB sets NORMAL when it turns the write-ahead log on, so FULL must come after.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // What a savepoint may have to take back is kept in memory, and in no file that is made for it.
                try database.execute(sql: "PRAGMA temp_store = MEMORY")
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
        // On the thread that asks: a read takes microseconds, and a change of threads costs more than that.
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
    /// SQLite's words.
    package static let sqlite = SQLDialect(
        integer: "INTEGER", blob: "BLOB", sequence: "INTEGER PRIMARY KEY AUTOINCREMENT", tableOptions: "STRICT",
        skipLocked: "")
}

extension StoreError {
    /// What a failure of SQLite means.
    package init(_ error: DatabaseError) {
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
