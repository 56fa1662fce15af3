import CountersignCore
import Foundation
import GRDB
import GRDBSQLite

/// A copy of a SQLite database, made while it is in use.
package enum SQLiteBackup {
    /// Copies a database as it stands at one moment; nobody who writes waits for it.
    ///
    /// The copy is checked before it gets its name, so whatever has the name is whole.
    ///
    /// - Parameters:
    ///   - source: the database.
    ///   - target: the copy, which must not be there yet.
    package static func make(of source: String, at target: String) throws -> BackupContent {
        try BackupFile.make(target) { draft, _ in
            try run("VACUUM INTO '\(draft.replacing("'", with: "''"))'", on: source)
            return try check(draft)
        }
    }

    /// Reads a database to its end, and tells what it holds.
    ///
    /// - Throws: ``BackupFailure`` when anything in it is not as it must be.
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
