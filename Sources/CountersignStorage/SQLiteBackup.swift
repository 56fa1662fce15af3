import CountersignCore
import Foundation
import GRDB
import GRDBSQLite

/// A copy of a SQLite database, made while it is in use.
public enum SQLiteBackup {
    /// What a copy holds, as it was read back.
    public struct Content: Hashable, Sendable {
        /// The schema it has.
        public let schema: Int
        /// How many rows the tables have that a person counts by.
        public let rows: [String: Int]
        /// The master keys that open it.
        public let masterKeys: [MasterKeyID]
        /// Its size, in bytes.
        public let size: Int
    }

    /// Why there is no copy.
    public struct Failure: Error, CustomStringConvertible {
        /// What happened.
        public let description: String
    }

    private static let counted = ["clients", "users", "enrollments", "challenges", "receipts"]

    /// Copies a database as it stands at one moment; nobody who writes waits for it.
    ///
    /// The copy is checked before it gets its name, so whatever has the name is whole.
    ///
    /// - Parameters:
    ///   - source: the database.
    ///   - target: the copy, which must not be there yet.
    public static func make(of source: String, at target: String) throws -> Content {
        let draft = target + ".part"
        unlink(draft)
        guard access(target, F_OK) != 0 else { throw Failure(description: "\(target) is there already.") }
        // Made here for its mode: it holds everything.
        let file = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "\(draft) cannot be written.") }
        defer {
            close(file)
            unlink(draft)
        }
        try run("VACUUM INTO '\(draft.replacing("'", with: "''"))'", on: source)
        let content = try check(draft)
        guard fsync(file) == 0 else { throw Failure(description: "\(draft) cannot be written: is the disk full?") }
        // A link refuses to replace what came in between; a rename would not.
        guard link(draft, target) == 0 else { throw Failure(description: "\(target) cannot be written.") }
        try syncNames(beside: target)
        return content
    }

    /// Makes the names in a file's folder last, not only what the files hold.
    private static func syncNames(beside file: String) throws {
        let folder = open(URL(filePath: file).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        defer { close(folder) }
        guard folder >= 0, fsync(folder) == 0 else { throw Failure(description: "\(file) cannot be made to last.") }
    }

    /// Reads a database to its end, and tells what it holds.
    ///
    /// - Throws: ``Failure`` when anything in it is not as it must be.
    public static func check(_ path: String) throws -> Content {
        do {
            return try SQLiteReaders(path: path).read { connection in
                let faults = try connection.rows(SQLStatement("PRAGMA integrity_check"), []).map { try $0.text(0) }
                guard faults == ["ok"] else {
                    throw Failure(description: "\(path) is damaged: \(faults.prefix(3).joined(separator: "; ")).")
                }
                guard try connection.rows(SQLStatement("PRAGMA foreign_key_check"), []).isEmpty else {
                    throw Failure(description: "\(path) is damaged: rows point to rows that are not there.")
                }
                return try content(connection, path)
            }
        } catch let error as StoreError {
            throw Failure(description: "\(path) cannot be read: \(error).")
        } catch let error as DatabaseError {
            throw Failure(description: "\(path) cannot be read: \(StoreError(error)).")
        }
    }

    private static func content(_ connection: any SQLConnection, _ path: String) throws -> Content {
        func number(_ text: String) throws -> Int {
            Int(try connection.rows(SQLStatement(text), []).first?.optionalInteger(0) ?? 0)
        }
        var rows: [String: Int] = [:]
        for table in counted { rows[table] = try number("SELECT count(*) FROM \(table)") }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return Content(
            schema: try number("SELECT max(version) FROM schema_version"), rows: rows,
            masterKeys: try KeyWraps.read(connection).masterKeys, size: (attributes?[.size] as? Int) ?? 0)
    }

    private static func run(_ statement: String, on path: String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil)
        defer { sqlite3_close_v2(handle) }
        guard code == SQLITE_OK else { throw Failure(description: "\(path) cannot be opened.") }
        sqlite3_busy_timeout(handle, 10_000)
        guard sqlite3_exec(handle, statement, nil, nil, nil) == SQLITE_OK else {
            let reason = sqlite3_errmsg(handle).map { String(cString: $0) } ?? ""
            throw Failure(description: "\(path) cannot be copied: \(reason).")
        }
    }
}
