import CountersignCore
import Foundation

/// The settings and state that a PostgreSQL server reports; reading them changes nothing.
package struct PostgresStatus: Sendable {
    /// The version as a number, such as 150004 for 15.4.
    package var version = 0
    /// The version as the server's own text.
    package var versionText = ""
    /// The encoding of the database's texts.
    package var encoding = ""
    /// How far the server's clock is ahead of ours, in milliseconds.
    package var clockDifference: Int64 = 0
    /// The maximum number of connections.
    package var maximumConnections = 0
    /// The number of connections reserved for administrators.
    package var reservedConnections = 0
    /// The number of open connections.
    package var connections = 0
    /// Whether commits wait for the disk.
    package var fsync = true
    /// Whether the server can repair pages that were only partly written before a crash.
    package var fullPageWrites = true
    /// What a commit waits for: `synchronous_commit`.
    package var synchronousCommit = "on"
    /// The replicas that a commit waits for: `synchronous_standby_names`.
    package var synchronousNames = ""
    /// Whether the server is read-only, such as a replica.
    package var isReadOnly = false
    /// The version of TLS in use; nil without TLS.
    package var tlsVersion: String?
    /// How strictly the server's certificate is checked: libpq's `sslmode`.
    package var tlsMode = ""
    /// Whether the server is on this machine.
    package var isLocal = true
    /// Whether the database contains our tables.
    package var isMade = false

    package init() {}

    private static let ask = SQLStatement(
        """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, current_setting('server_version'),
        current_setting('server_encoding'), current_setting('max_connections')::bigint,
        current_setting('superuser_reserved_connections')::bigint
          + coalesce(current_setting('reserved_connections', true)::bigint, 0),
        (SELECT coalesce(sum(numbackends), 0)::bigint FROM pg_stat_database),
        current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
        current_setting('synchronous_standby_names'), current_setting('transaction_read_only'),
        to_regclass('schema_version') IS NOT NULL
        """)

    /// Queries the server at an address.
    package static func read(_ address: PostgresAddress) async throws(SQLStore.Unreachable) -> PostgresStatus {
        do {
            return try await PostgresEngine.onThread { try ask(at: address) }
        } catch let failure as PostgresFailure {
            throw SQLStore.Unreachable(reason: failure.message)
        } catch {
            throw SQLStore.Unreachable(reason: "\(error)")
        }
    }

    private static func ask(at address: PostgresAddress) throws -> PostgresStatus {
        let connection = try PostgresConnection(to: address)
        // The first query prepares the statement, so that the second takes a single round trip and the clocks can be
        // compared.
        _ = try connection.rows(ask, [])
        let before = Date()
        guard let row = try connection.rows(ask, []).first else { throw StoreError.corruptRow("settings") }
        let middle = (before.timeIntervalSince1970 + Date().timeIntervalSince1970) / 2 * 1000
        var status = PostgresStatus()
        status.version = connection.serverVersion
        status.clockDifference = try row.integer(0) - Int64(middle)
        status.versionText = try row.text(1)
        status.encoding = try row.text(2)
        status.maximumConnections = Int(try row.integer(3))
        status.reservedConnections = Int(try row.integer(4))
        status.connections = Int(try row.integer(5))
        status.fsync = try row.text(6) == "on"
        status.fullPageWrites = try row.text(7) == "on"
        status.synchronousCommit = try row.text(8)
        status.synchronousNames = try row.text(9)
        status.isReadOnly = try row.text(10) == "on"
        status.isMade = try row.integer(11) == 1
        status.tlsVersion = connection.tlsVersion
        status.tlsMode = connection.tlsMode
        status.isLocal = connection.isLocal
        return status
    }
}
