import CountersignCore
import Foundation

/// What a PostgreSQL server says of itself; asking changes nothing.
package struct PostgresStatus: Sendable {
    /// Its version, such as 150004 for 15.4.
    package var version = 0
    /// Its version in its own words.
    package var versionText = ""
    /// How the database's texts are kept.
    package var encoding = ""
    /// By how many milliseconds its clock is ahead of ours.
    package var clockDifference: Int64 = 0
    /// How many connections it allows.
    package var maximumConnections = 0
    /// How many of them it keeps for its own keepers.
    package var reservedConnections = 0
    /// How many are open.
    package var connections = 0
    /// Whether it waits for the disk.
    package var fsync = true
    /// Whether it can mend pages that were torn by a crash.
    package var fullPageWrites = true
    /// What a commit waits for.
    package var synchronousCommit = "on"
    /// The replicas that a commit waits for.
    package var synchronousNames = ""
    /// Whether it takes no writes, as a replica does.
    package var isReadOnly = false
    /// The version of TLS that is spoken with it, or nil.
    package var tlsVersion: String?
    /// How much of its certificate is checked, in libpq's words.
    package var tlsMode = ""
    /// Whether it is on this machine.
    package var isLocal = true
    /// Whether there are tables of ours in the database.
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

    /// Asks the server at an address.
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
        // Prepared before, so that the clocks are compared over one way there and back.
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
