import CountersignCore
import GRDB
import GRDBSQLite

/// A connection during one transaction.
///
/// It calls SQLite's C functions directly, because GRDB's conversion of arguments and rows costs more than most of our
/// statements.
package struct SQLiteConnection: SQLConnection {
    let statements: SQLiteStatements

    package init(statements: SQLiteStatements) {
        self.statements = statements
    }

    /// Whether a transaction is in progress.
    ///
    /// SQLite ends a transaction by itself after some errors, such as a full disk.
    var isInsideTransaction: Bool { sqlite3_get_autocommit(statements.handle) == 0 }

    package func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try run(statement, arguments) { handle in
            rows.append(SQLRow((0..<sqlite3_column_count(handle)).map { SQLValue(column: $0, of: handle) }))
        }
        return rows
    }

    @discardableResult
    package func execute(_ statement: SQLStatement, _ arguments: [SQLValue] = []) throws -> Int {
        try run(statement, arguments) { _ in }
        return Int(sqlite3_changes(statements.handle))
    }

    private func run(
        _ statement: SQLStatement, _ arguments: [SQLValue], _ eachRow: (SQLiteStatement) -> Void
    ) throws {
        StatementCount.note()
        let handle = try statements.prepared(statement)
        defer {
            sqlite3_reset(handle)
            // The arguments may be secret, and the statement is kept.
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
    /// Makes SQLite copy the bound bytes.
    private static let transient = unsafeBitCast(OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)

    /// Binds the value to a placeholder.
    ///
    /// - Throws: ``StoreError/engine(_:)`` for a text with U+0000: PostgreSQL cannot store it, and C string functions
    ///   would stop at it.
    fileprivate func bind(to handle: SQLiteStatement, at index: CInt) throws(StoreError) -> CInt {
        switch self {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .text(let text):
            guard !text.utf8.contains(0) else { throw StoreError.engine("a text holds U+0000") }
            return sqlite3_bind_text(handle, index, text, CInt(text.utf8.count), Self.transient)
        // An empty array may have no address, and without one SQLite would bind NULL.
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
            // A floating-point number, which no column holds, is read as text, so that its reader reports a corrupt
            // row.
            let address = sqlite3_column_text(handle, column)
            let bytes = UnsafeBufferPointer(start: address, count: Self.size(of: column, handle))
            self = .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Must be called after the address was read, which may convert the value.
    ///
    /// Spec: SQLite, *Result Values From A Query*.
    private static func size(of column: CInt, _ handle: SQLiteStatement) -> Int {
        Int(sqlite3_column_bytes(handle, column))
    }
}
