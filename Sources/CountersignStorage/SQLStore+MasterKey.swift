import CountersignCore
package import CountersignWire

private enum Statements {
    static let newest = SQLStatement("SELECT at FROM audit ORDER BY place DESC LIMIT 1")
}

/// What commands about a database ask of it: its schema, and the master keys that open it.
extension SQLStore {
    /// The schema it has.
    package func schemaVersion() async throws -> Int { try await Migrations.version(of: engine) }

    /// When the newest event of the audit was written; nil when there is none.
    package func newestEvent() async throws -> Timestamp? {
        try await engine.read { try $0.rows(Statements.newest, []).first?.optionalTime(0) }
    }

    /// The master keys that open the database, the newest last.
    package func masterKeys() async throws -> [MasterKeyID] {
        try await engine.read { try KeyWraps.read($0).masterKeys }
    }

    /// Lets another master key open the database as well as the one it was opened by.
    package func accept(_ next: MasterKey, besides masterKey: MasterKey) async throws {
        try await engine.write { connection in
            try KeyWraps.add(next, to: connection, openedBy: masterKey)
            return ((), changes: [])
        }
    }

    /// Lets no master key open the database that was in use before this one, and brings in a sealing key that none of
    /// those ever wrapped; servers then seal everything again, see ``Resealing``.
    ///
    /// - Returns: whether this one is the newest; otherwise nothing was done.
    package func retireEarlier(than masterKey: MasterKey, at now: Timestamp) async throws -> Bool {
        try await engine.write { (try KeyWraps.retireEarlier(than: masterKey, at: now, in: $0), changes: [.keys]) }
    }
}
