import CountersignCore
package import CountersignWire

private enum Statements {
    static let newest = SQLStatement("SELECT at FROM audit ORDER BY sequence DESC LIMIT 1")
}

/// Queries and changes by administrative commands: the schema, and the master keys that open the database.
extension SQLStore {
    /// The version of the schema.
    package func schemaVersion() async throws -> Int { try await Migrations.version(of: engine) }

    /// The time of the newest audit event; nil if there is none.
    package func newestEvent() async throws -> Timestamp? {
        try await engine.read { try $0.rows(Statements.newest, []).first?.optionalTime(0) }
    }

    /// The master keys that open the database, newest last.
    package func masterKeys() async throws -> [MasterKeyID] {
        try await engine.read { try KeyWraps.read($0).masterKeys }
    }

    /// Allows another master key to open the database as well as the current one.
    package func accept(_ next: MasterKey, besides masterKey: MasterKey) async throws {
        try await engine.write { connection in
            try KeyWraps.add(next, to: connection, openedBy: masterKey)
            return ((), changes: [])
        }
    }

    /// Removes the wraps of all earlier master keys, and adds a sealing key that none of them has ever wrapped.
    ///
    /// The servers then seal everything again; see ``Resealing``.
    ///
    /// - Returns: whether this master key is the newest; if not, nothing was changed.
    package func retireEarlier(than masterKey: MasterKey, at now: Timestamp) async throws -> Bool {
        try await engine.write { (try KeyWraps.retireEarlier(than: masterKey, at: now, in: $0), changes: [.keys]) }
    }
}
