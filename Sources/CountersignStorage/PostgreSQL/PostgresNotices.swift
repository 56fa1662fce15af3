import CPostgreSQL
import Synchronization

/// Hears what a server says besides its results; libpq would write it to standard error.
///
/// A warning is noted: during COMMIT it means that the server did not wait until its replica had the transaction.
/// See PostgreSQL, *27.2.8. Synchronous Replication*.
final class PostgresNotices: Sendable {
    private let warned = Mutex(false)

    /// Whether there was a warning since this was last asked.
    var takeWarning: Bool {
        warned.withLock { warned in
            defer { warned = false }
            return warned
        }
    }

    /// Listens to a connection, which must end before this does.
    func listen(to handle: OpaquePointer) {
        PQsetNoticeReceiver(
            handle,
            { notices, result in
                guard let notices, let result, let code = Character("V").asciiValue,
                    let severity = PQresultErrorField(result, Int32(code)), String(cString: severity) == "WARNING"
                else { return }
                Unmanaged<PostgresNotices>.fromOpaque(notices).takeUnretainedValue().warned.withLock { $0 = true }
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
