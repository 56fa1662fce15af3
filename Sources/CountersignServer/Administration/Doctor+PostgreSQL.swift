import CountersignStorage

/// Checks of a PostgreSQL server before its database is opened.
extension Doctor {
    /// A server's connections besides its pool: one for notifications, and one while the server starts.
    private static let besides = 2

    /// Checks a PostgreSQL server.
    ///
    /// - Parameters:
    ///   - status: the state that the PostgreSQL server reports.
    ///   - connections: the maximum size of a node's pool.
    static func judge(_ status: PostgresStatus, connections: Int) -> [DiagnosticResult] {
        [
            version(status), encoding(status.encoding), tls(status), databaseClock(status.clockDifference),
            room(status, connections: connections), durability(status), replica(status),
        ]
    }

    static func version(_ status: PostgresStatus) -> DiagnosticResult {
        let name = "database server"
        guard status.version >= 130_000 else {
            return .fault(name, "It is PostgreSQL \(status.versionText).", "Use version 13 or newer.")
        }
        guard !status.isReadOnly else {
            return .fault(
                name, "It is PostgreSQL \(status.versionText), and takes no writes.",
                "Name all hosts, with target_session_attrs=read-write, or promote this one.")
        }
        return .fine(name, "It is PostgreSQL \(status.versionText).")
    }

    static func encoding(_ encoding: String) -> DiagnosticResult {
        guard encoding == "UTF8" else {
            return .fault(
                "database encoding", "It is \(encoding).", "Make a database with --encoding=UTF8 and move there.")
        }
        return .fine("database encoding", "It is UTF8.")
    }

    static func tls(_ status: PostgresStatus) -> DiagnosticResult {
        let name = "database TLS"
        guard let version = status.tlsVersion else {
            return status.isLocal
                ? .fine(name, "None is spoken, and none is needed: the server is on this machine.")
                : .fault(
                    name, "None is spoken with another machine: whoever is on the way reads and writes.",
                    "Set ssl = on there, and sslmode=verify-full with sslrootcert in the address.")
        }
        guard status.isLocal || ["verify-full", "verify-ca"].contains(status.tlsMode) else {
            return .warning(
                name, "\(version) is spoken, and nobody looks whose certificate it is (sslmode=\(status.tlsMode)).",
                "Set sslmode=verify-full with sslrootcert in the address.")
        }
        return .fine(name, "\(version) is spoken (sslmode=\(status.tlsMode)).")
    }

    /// Checks the database's clock, by how many milliseconds it is ahead of the clock here.
    static func databaseClock(_ difference: Int64) -> DiagnosticResult {
        guard abs(difference) > 5000 else { return .fine("database clock", "It agrees with the one here.") }
        return .warning(
            "database clock", "It differs by \(abs(difference) / 1000) s from the one here.",
            "Set both clocks right, by NTP.")
    }

    static func room(_ status: PostgresStatus, connections: Int) -> DiagnosticResult {
        let name = "database connections"
        let (free, each) = (status.maximumConnections - status.reservedConnections, connections + besides)
        let seen = "\(free) are allowed, \(status.connections) are open, and a server takes up to \(each)"
        let cure = "Raise max_connections there, or lower database_connections."
        switch free / each {
        case 0: return .fault(name, "\(seen): too few for one.", cure)
        case 1: return .warning(name, "\(seen): enough for one.", cure)
        case let count: return .fine(name, "\(seen): enough for \(count).")
        }
    }

    static func durability(_ status: PostgresStatus) -> DiagnosticResult {
        let name = "database durability"
        guard status.fsync else {
            return .fault(
                name, "fsync is off: a crash of the machine may destroy the database.", "Set fsync = on there.")
        }
        guard status.synchronousCommit != "off" else {
            return .fault(
                name, "synchronous_commit is off: a crash loses what was acknowledged.",
                "Set synchronous_commit = on, there or for the role.")
        }
        guard status.fullPageWrites else {
            return .warning(
                name, "full_page_writes is off: a crash may damage pages.",
                "Set full_page_writes = on, unless the file system cannot tear a page.")
        }
        return .fine(name, "fsync is on, synchronous_commit is \(status.synchronousCommit).")
    }

    static func replica(_ status: PostgresStatus) -> DiagnosticResult {
        let name = "database replica"
        guard !status.synchronousNames.isEmpty else {
            return .warning(
                name, "None is synchronous: with this server's disk everything since the backup is lost.",
                "Set synchronous_standby_names, if that must not be.")
        }
        guard status.synchronousCommit != "local" else {
            return .warning(
                name, "Commits wait for none: synchronous_commit is local.", "Set synchronous_commit = on.")
        }
        return .fine(
            name,
            "Commits wait for \(status.synchronousNames) (synchronous_commit is \(status.synchronousCommit)).")
    }
}
