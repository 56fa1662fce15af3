import GRDB
import GRDBSQLite

/// The prepared statements of a connection, kept as long as the connection.
///
/// A connection that was opened without a mutex may be used by only one thread at a time, so callers protect this
/// object with a lock.
package final class SQLiteStatements {
    let handle: OpaquePointer
    private let ownsHandle: Bool
    private var kept: [SQLStatement: SQLiteStatement] = [:]

    /// - Parameters:
    ///   - handle: the connection.
    ///   - isOwner: whether the connection is closed when this object is released.
    package init(of handle: OpaquePointer, isOwner: Bool) {
        self.handle = handle
        ownsHandle = isOwner
    }

    deinit {
        for statement in kept.values { sqlite3_finalize(statement) }
        if ownsHandle { sqlite3_close_v2(handle) }
    }

    /// The prepared statement, ready to be bound and run.
    func prepared(_ statement: SQLStatement) throws -> SQLiteStatement {
        if let prepared = kept[statement] { return prepared }
        var prepared: SQLiteStatement?
        let code = sqlite3_prepare_v3(
            handle, statement.text, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw error(code) }
        kept[statement] = prepared
        return prepared
    }

    /// The error of the last call.
    ///
    /// Call this before any other call on the connection, which would replace the message.
    func error(_ code: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: sqlite3_errmsg(handle).map { String(cString: $0) })
    }
}
