import CountersignCore
import Foundation
import GRDB
import GRDBSQLite

/// Backs up a SQLite database while it is in use.
package enum SQLiteBackup {
    /// Copies a database as of one moment, without blocking writers.
    ///
    /// The copy is checked before it gets its final name, so a file of that name is complete.
    ///
    /// - Parameters:
    ///   - source: the path of the database.
    ///   - target: the path of the copy, which must not exist yet.
    /// - Throws: ``BackupFailure``.
    package static func make(of source: String, at target: String) throws -> BackupContent {
        try BackupFile.make(target) { draft, _ in
            try run("VACUUM INTO '\(draft.replacing("'", with: "''"))'", on: source)
            return try check(draft)
        }
    }

    /// Reads a database completely, and reports its content.
    ///
    /// - Throws: ``BackupFailure`` when the database is damaged or cannot be read.
    package static func check(_ path: String) throws -> BackupContent {
        do {
            return try SQLiteReaders(path: path).read { connection in
                let faults = try connection.rows(SQLStatement("PRAGMA integrity_check"), []).map { try $0.text(0) }
                guard faults == ["ok"] else {
                    throw BackupFailure(description: "\(path) is damaged: \(faults.prefix(3).joined(separator: "; ")).")
                }
                guard try connection.rows(SQLStatement("PRAGMA foreign_key_check"), []).isEmpty else {
                    throw BackupFailure(description: "\(path) is damaged: rows point to rows that are not there.")
                }
                return try content(connection, path)
            }
        } catch let error as StoreError {
            throw BackupFailure(description: "\(path) cannot be read: \(error).")
        } catch let error as DatabaseError {
            throw BackupFailure(description: "\(path) cannot be read: \(StoreError(error)).")
        }
    }

    private static func content(_ connection: any SQLConnection, _ path: String) throws -> BackupContent {
        func number(_ text: String) throws -> Int {
            Int(try connection.rows(SQLStatement(text), []).first?.optionalInteger(0) ?? 0)
        }
        var rows: [String: Int] = [:]
        for table in BackupContent.counted { rows[table] = try number("SELECT count(*) FROM \(table)") }
        return BackupContent(
            schema: try number("SELECT max(version) FROM schema_version"), rows: rows,
            masterKeys: try KeyWraps.read(connection).masterKeys, size: BackupFile.size(of: path))
    }

    private static func run(_ statement: String, on path: String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil)
        defer { sqlite3_close_v2(handle) }
        guard code == SQLITE_OK else { throw BackupFailure(description: "\(path) cannot be opened.") }
        sqlite3_busy_timeout(handle, 10_000)
        guard sqlite3_exec(handle, statement, nil, nil, nil) == SQLITE_OK else {
            let reason = sqlite3_errmsg(handle).map { String(cString: $0) } ?? ""
            throw BackupFailure(description: "\(path) cannot be copied: \(reason).")
        }
    }
}
