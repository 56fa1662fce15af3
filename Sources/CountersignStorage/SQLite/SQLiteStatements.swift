import GRDB
import GRDBSQLite

/// A connection's statements, prepared once and kept as long as it.
///
/// SQLite lets one thread at a time use a connection that was opened without a mutex, so this stands behind one.
package final class SQLiteStatements {
    let handle: OpaquePointer
    private let ownsHandle: Bool
    private var kept: [SQLStatement: SQLiteStatement] = [:]

    /// The statements of a connection.
    ///
    /// - Parameters:
    ///   - handle: the connection.
    ///   - isOwner: whether the connection is closed with this.
    package init(of handle: OpaquePointer, isOwner: Bool) {
        self.handle = handle
        ownsHandle = isOwner
    }

    deinit {
        for statement in kept.values { sqlite3_finalize(statement) }
        if ownsHandle { sqlite3_close_v2(handle) }
    }

    /// The statement, ready to be bound and run.
    func prepared(_ statement: SQLStatement) throws -> SQLiteStatement {
        if let prepared = kept[statement] { return prepared }
        var prepared: SQLiteStatement?
        let code = sqlite3_prepare_v3(
            handle, statement.text, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw error(code) }
        kept[statement] = prepared
        return prepared
    }

    /// Must be made before anything else is asked of the connection, which remembers one message.
    func error(_ code: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: sqlite3_errmsg(handle).map { String(cString: $0) })
    }
}
