import CPostgreSQL

/// Where a connection leads, and how another program can connect to the same server.
extension PostgresConnection {
    /// The version of the server, such as 150004 for 15.4.
    var serverVersion: Int { Int(PQserverVersion(handle)) }

    var database: String { String(cString: PQdb(handle)) }

    /// Whether the server is on this machine: the connection uses a Unix socket or a loopback address.
    var isLocal: Bool {
        let address = String(cString: PQhostaddr(handle))
        return String(cString: PQhost(handle)).hasPrefix("/") || address.hasPrefix("127.") || address == "::1"
    }

    /// The version of TLS in use; nil without TLS.
    var tlsVersion: String? {
        guard PQsslInUse(handle) == 1 else { return nil }
        return PQsslAttribute(handle, "protocol").map { String(cString: $0) } ?? "TLS"
    }

    /// How strictly the server's certificate is checked: libpq's `sslmode`.
    var tlsMode: String { options.first { $0.keyword == "sslmode" }?.value ?? "" }

    /// The parameters that lead to this very server, even when the address has several hosts or a name has several
    /// addresses.
    var place: [(String, String)] {
        let address = String(cString: PQhostaddr(handle))
        let place = [("host", String(cString: PQhost(handle))), ("port", String(cString: PQport(handle)))]
        // A socket has no address.
        return address.isEmpty ? place : place + [("hostaddr", address)]
    }

    /// The environment variables with which another program connects in the same way, password included.
    ///
    /// Every user can read the command lines of processes, but not their environment. See PostgreSQL, *34.15.
    /// Environment Variables*.
    var environment: [String: String] {
        var environment = ["PGDATABASE": database, "PGPASSWORD": String(cString: PQpass(handle))]
        let left = ["host", "hostaddr", "port", "dbname", "password", "target_session_attrs", "load_balance_hosts"]
        for option in options where !left.contains(option.keyword) {
            if let variable = option.variable { environment[variable] = option.value }
        }
        let variables = ["host": "PGHOST", "port": "PGPORT", "hostaddr": "PGHOSTADDR"]
        for (keyword, value) in place { environment[variables[keyword] ?? ""] = value }
        return environment.filter { !$0.value.isEmpty }
    }

    /// Whether the address contains the password of a client key, for which there is no environment variable.
    var hasKeyPassword: Bool { options.contains { $0.keyword == "sslpassword" } }

    /// The parameters that the connection was made with, from the address, the environment and the defaults.
    private var options: [(keyword: String, variable: String?, value: String)] {
        guard let first = PQconninfo(handle) else { return [] }
        defer { PQconninfoFree(first) }
        var options: [(String, String?, String)] = []
        var option = first
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, value.pointee != 0 {
                options.append(
                    (
                        String(cString: keyword), option.pointee.envvar.map { String(cString: $0) },
                        String(cString: value)
                    ))
            }
            option += 1
        }
        return options
    }
}
