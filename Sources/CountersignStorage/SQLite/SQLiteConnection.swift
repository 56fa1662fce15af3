import GRDB
import GRDBSQLite

/// One connection, wrapped for the length of a transaction.
///
/// GRDB prepares and keeps the statements; SQLite's own functions run them, because what wraps arguments and rows for
/// everybody costs more than most of our statements.
struct SQLiteConnection: SQLConnection {
    let database: Database

    func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try run(statement, arguments) { handle in
            rows.append(SQLRow((0..<sqlite3_column_count(handle)).map { SQLValue(column: $0, of: handle) }))
        }
        return rows
    }

    @discardableResult
    func execute(_ statement: SQLStatement, _ arguments: [SQLValue] = []) throws -> Int {
        try run(statement, arguments) { _ in }
        return database.changesCount
    }

    private func run(
        _ statement: SQLStatement, _ arguments: [SQLValue], _ eachRow: (SQLiteStatement) -> Void
    ) throws {
        let handle = try database.cachedStatement(sql: statement.text).sqliteStatement
        defer {
            sqlite3_reset(handle)
            // What was bound may be secret; the statement is kept.
            sqlite3_clear_bindings(handle)
        }
        for (index, argument) in try statement.byAppearance(arguments).enumerated() {
            let code = argument.bind(to: handle, at: CInt(index + 1))
            guard code == SQLITE_OK else { throw error(code) }
        }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: eachRow(handle)
            case SQLITE_DONE: return
            case let code: throw error(code)
            }
        }
    }

    /// Must be made before anything else is asked of the connection, which remembers one message.
    private func error(_ code: CInt) -> DatabaseError {
        let message = database.sqliteConnection.flatMap(sqlite3_errmsg).map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }
}

extension SQLValue {
    /// Has SQLite copy what is bound.
    private static let transient = unsafeBitCast(OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)

    fileprivate func bind(to handle: SQLiteStatement, at index: CInt) -> CInt {
        switch self {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .text(let text): return sqlite3_bind_text(handle, index, text, CInt(text.utf8.count), Self.transient)
        // Without an address, which an empty array need not have, it would be NULL.
        case .blob(let bytes) where bytes.isEmpty: return sqlite3_bind_zeroblob(handle, index, 0)
        case .blob(let bytes): return sqlite3_bind_blob(handle, index, bytes, CInt(bytes.count), Self.transient)
        }
    }

    fileprivate init(column: CInt, of handle: SQLiteStatement) {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: self = .null
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(handle, column))
        case SQLITE_BLOB:
            let address = sqlite3_column_blob(handle, column)
            self = .blob(Array(UnsafeRawBufferPointer(start: address, count: Self.size(of: column, handle))))
        default:
            // A number with a fraction, which no column of ours holds, comes as text: its reader will call it corrupt.
            let address = sqlite3_column_text(handle, column)
            let bytes = UnsafeBufferPointer(start: address, count: Self.size(of: column, handle))
            self = .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Spec: SQLite, *Result Values From A Query*: to be asked for after the address, which may convert the value.
    private static func size(of column: CInt, _ handle: SQLiteStatement) -> Int {
        Int(sqlite3_column_bytes(handle, column))
    }
}
