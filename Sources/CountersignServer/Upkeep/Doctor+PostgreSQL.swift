import CountersignStorage

/// What there is to say about a PostgreSQL server before its database is opened.
extension Doctor {
    /// How many connections a server takes besides those it works on: one for news, one while it starts.
    private static let besides = 2

    /// What to say of a server.
    ///
    /// - Parameters:
    ///   - standing: what it says of itself.
    ///   - connections: how many connections a node works on at most.
    static func judge(_ standing: PostgresStanding, connections: Int) -> [Finding] {
        [
            version(standing), encoding(standing.encoding), tls(standing), databaseClock(standing.clockDifference),
            room(standing, connections: connections), durability(standing), replica(standing),
        ]
    }

    static func version(_ standing: PostgresStanding) -> Finding {
        let name = "database server"
        guard standing.version >= 130_000 else {
            return .fault(name, "It is PostgreSQL \(standing.versionText).", "Use version 13 or newer.")
        }
        guard !standing.isReadOnly else {
            return .fault(
                name, "It is PostgreSQL \(standing.versionText), and takes no writes.",
                "Name all hosts, with target_session_attrs=read-write, or promote this one.")
        }
        return .fine(name, "It is PostgreSQL \(standing.versionText).")
    }

    static func encoding(_ encoding: String) -> Finding {
        guard encoding == "UTF8" else {
            return .fault(
                "database encoding", "It is \(encoding).", "Make a database with --encoding=UTF8 and move there.")
        }
        return .fine("database encoding", "It is UTF8.")
    }

    static func tls(_ standing: PostgresStanding) -> Finding {
        let name = "database TLS"
        guard let version = standing.tlsVersion else {
            return standing.isLocal
                ? .fine(name, "None is spoken, and none is needed: the server is on this machine.")
                : .fault(
                    name, "None is spoken with another machine: whoever is on the way reads and writes.",
                    "Set ssl = on there, and sslmode=verify-full with sslrootcert in the address.")
        }
        guard standing.isLocal || ["verify-full", "verify-ca"].contains(standing.tlsMode) else {
            return .warning(
                name, "\(version) is spoken, and nobody looks whose certificate it is (sslmode=\(standing.tlsMode)).",
                "Set sslmode=verify-full with sslrootcert in the address.")
        }
        return .fine(name, "\(version) is spoken (sslmode=\(standing.tlsMode)).")
    }

    /// What to say of the server's clock, which is ahead of ours by so many milliseconds.
    static func databaseClock(_ difference: Int64) -> Finding {
        guard abs(difference) > 5000 else { return .fine("database clock", "It agrees with the one here.") }
        return .warning(
            "database clock", "It differs by \(abs(difference) / 1000) s from the one here.",
            "Set both clocks right, by NTP.")
    }

    static func room(_ standing: PostgresStanding, connections: Int) -> Finding {
        let name = "database connections"
        let (free, each) = (standing.maximumConnections - standing.reservedConnections, connections + besides)
        let seen = "\(free) are allowed, \(standing.connections) are open, and a server takes up to \(each)"
        let cure = "Raise max_connections there, or lower database_connections."
        switch free / each {
        case 0: return .fault(name, "\(seen): too few for one.", cure)
        case 1: return .warning(name, "\(seen): enough for one.", cure)
        case let count: return .fine(name, "\(seen): enough for \(count).")
        }
    }

    static func durability(_ standing: PostgresStanding) -> Finding {
        let name = "database durability"
        guard standing.fsync else {
            return .fault(
                name, "fsync is off: a crash of the machine may destroy the database.", "Set fsync = on there.")
        }
        guard standing.synchronousCommit != "off" else {
            return .fault(
                name, "synchronous_commit is off: a crash loses what was acknowledged.",
                "Set synchronous_commit = on, there or for the role.")
        }
        guard standing.fullPageWrites else {
            return .warning(
                name, "full_page_writes is off: a crash may damage pages.",
                "Set full_page_writes = on, unless the file system cannot tear a page.")
        }
        return .fine(name, "fsync is on, synchronous_commit is \(standing.synchronousCommit).")
    }

    static func replica(_ standing: PostgresStanding) -> Finding {
        let name = "database replica"
        guard !standing.synchronousNames.isEmpty else {
            return .warning(
                name, "None is synchronous: with this server's disk everything since the backup is lost.",
                "Set synchronous_standby_names, if that must not be.")
        }
        guard standing.synchronousCommit != "local" else {
            return .warning(
                name, "Commits wait for none: synchronous_commit is local.", "Set synchronous_commit = on.")
        }
        return .fine(
            name,
            "Commits wait for \(standing.synchronousNames) (synchronous_commit is \(standing.synchronousCommit)).")
    }
}
