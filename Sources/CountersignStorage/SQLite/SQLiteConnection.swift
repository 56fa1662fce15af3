import CountersignCore
import GRDB
import GRDBSQLite

/// One connection, wrapped for the length of a transaction.
///
/// SQLite's own functions run the statements, because what wraps arguments and rows for everybody costs more than most
/// of our statements.
package struct SQLiteConnection: SQLConnection {
    let statements: SQLiteStatements

    /// A connection by its statements.
    package init(statements: SQLiteStatements) {
        self.statements = statements
    }

    /// Whether a transaction is under way.
    ///
    /// SQLite ends one by itself when, say, the disk is full.
    var isInsideTransaction: Bool { sqlite3_get_autocommit(statements.handle) == 0 }

    /// See ``SQLConnection/rows(_:_:)``.
    package func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try run(statement, arguments) { handle in
            rows.append(SQLRow((0..<sqlite3_column_count(handle)).map { SQLValue(column: $0, of: handle) }))
        }
        return rows
    }

    /// See ``SQLConnection/execute(_:_:)``.
    @discardableResult
    package func execute(_ statement: SQLStatement, _ arguments: [SQLValue] = []) throws -> Int {
        try run(statement, arguments) { _ in }
        return Int(sqlite3_changes(statements.handle))
    }

    private func run(
        _ statement: SQLStatement, _ arguments: [SQLValue], _ eachRow: (SQLiteStatement) -> Void
    ) throws {
        let handle = try statements.prepared(statement)
        defer {
            sqlite3_reset(handle)
            // What was bound may be secret; the statement is kept.
            if !arguments.isEmpty { sqlite3_clear_bindings(handle) }
        }
        for (index, argument) in statement.argumentsByAppearance.enumerated() {
            let code = try arguments[argument].bind(to: handle, at: CInt(index + 1))
            guard code == SQLITE_OK else { throw statements.error(code) }
        }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: eachRow(handle)
            case SQLITE_DONE: return
            case let code: throw statements.error(code)
            }
        }
    }
}

extension SQLValue {
    /// Has SQLite copy what is bound.
    private static let transient = unsafeBitCast(OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)

    /// Binds a value to a placeholder.
    ///
    /// A text with U+0000 is refused: PostgreSQL keeps none, and what reads a C string would see the half before it.
    fileprivate func bind(to handle: SQLiteStatement, at index: CInt) throws(StoreError) -> CInt {
        switch self {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .text(let text):
            guard !text.utf8.contains(0) else { throw StoreError.engine("a text holds U+0000") }
            return sqlite3_bind_text(handle, index, text, CInt(text.utf8.count), Self.transient)
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
