import CPostgreSQL

/// Where a connection leads, and how other programs get there.
extension PostgresConnection {
    /// The version of the server, such as 150004 for 15.4.
    var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// The database.
    var database: String { String(cString: PQdb(handle)) }

    /// Whether the server is on this machine: at a socket in a folder, or at an address that leads nowhere else.
    var isLocal: Bool {
        let address = String(cString: PQhostaddr(handle))
        return String(cString: PQhost(handle)).hasPrefix("/") || address.hasPrefix("127.") || address == "::1"
    }

    /// The version of TLS that is spoken, or nil.
    var tlsVersion: String? {
        guard PQsslInUse(handle) == 1 else { return nil }
        return PQsslAttribute(handle, "protocol").map { String(cString: $0) } ?? "TLS"
    }

    /// How much of the server's certificate is checked, in libpq's words.
    var tlsMode: String { options.first { $0.keyword == "sslmode" }?.value ?? "" }

    /// What leads to the very server that this connection leads to, of several hosts and several addresses of a name.
    var place: [(String, String)] {
        let address = String(cString: PQhostaddr(handle))
        let place = [("host", String(cString: PQhost(handle))), ("port", String(cString: PQport(handle)))]
        // A socket has none.
        return address.isEmpty ? place : place + [("hostaddr", address)]
    }

    /// What another program needs in its environment to connect as this connection did, password included: the list of
    /// processes, which everybody may read, shows the command line and not the environment.
    ///
    /// See PostgreSQL, *34.15. Environment Variables*.
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

    /// Whether the address unlocks its key by a password, which no variable holds.
    var hasKeyPassword: Bool { options.contains { $0.keyword == "sslpassword" } }

    /// What the connection was made with: of the address, the environment and the defaults whatever counted.
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
