import CPostgreSQL
import Synchronization

/// Receives the server's notices, which libpq would otherwise write to standard error.
///
/// It remembers a warning: during COMMIT, a warning means that the server did not wait until its replica had the
/// transaction. See PostgreSQL, *27.2.8. Synchronous Replication*.
final class PostgresNotices: Sendable {
    private let warned = Mutex(false)

    /// Whether there was a warning since the last call.
    var takeWarning: Bool {
        warned.withLock { warned in
            defer { warned = false }
            return warned
        }
    }

    /// Receives the notices of a connection; this object must outlive the connection.
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
