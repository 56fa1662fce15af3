import CountersignCore
import CountersignWire
import Encodings
import RelyingPartyAPI

private enum Statements {
    static let byID = SQLStatement("SELECT settings FROM relying_parties WHERE client_id = $1")
    static let heldByID = SQLStatement("\(byID.text) FOR SHARE")
    static let put = SQLStatement(
        """
        INSERT INTO relying_parties (client_id, settings, account, resource) VALUES ($1, $2, $3, $4)
        ON CONFLICT (client_id) DO UPDATE SET settings = excluded.settings, account = excluded.account,
          resource = excluded.resource
        """)
    static let everyone = SQLStatement("SELECT client_id, settings FROM relying_parties ORDER BY client_id")
    static let owner = SQLStatement("SELECT client_id FROM relying_parties WHERE resource = $1")
    static let account = SQLStatement(
        """
        SELECT p.client_id FROM relying_parties p JOIN clients c ON c.id = p.client_id
        WHERE p.account = 1 AND c.disabled_at IS NULL AND c.deleted_at IS NULL ORDER BY p.client_id LIMIT 1
        """)
    static let delete = SQLStatement("DELETE FROM relying_parties WHERE client_id = $1")
    static let origin = SQLStatement(
        """
        SELECT 1 FROM allowed_origins o JOIN clients c ON c.id = o.client_id
        WHERE o.origin = $1 AND c.disabled_at IS NULL AND c.deleted_at IS NULL LIMIT 1
        """)
    static let addOrigin = SQLStatement(
        "INSERT INTO allowed_origins (origin, client_id) VALUES ($1, $2) ON CONFLICT DO NOTHING")
    static let deleteOrigins = SQLStatement("DELETE FROM allowed_origins WHERE client_id = $1")
}

/// How clients use the OpenID provider.
extension SQLTransaction {
    func find(_ client: ClientID) throws -> RelyingParty? { try party(client, Statements.byID) }

    func lock(_ client: ClientID) throws -> RelyingParty? {
        try party(client, locksRows ? Statements.heldByID : Statements.byID)
    }

    private func party(_ client: ClientID, _ statement: SQLStatement) throws -> RelyingParty? {
        try first(statement, [client.value]) { try party(client, $0, at: 0) }
    }

    /// Reads the column settings.
    func party(_ client: ClientID, _ row: SQLRow, at column: Int) throws -> RelyingParty {
        try parsed.relyingParties.value(client, of: row[column..<column + 1]) {
            try row.value(column) { text in
                // A URI that was accepted in development mode stays.
                (try? JSONValue(parsing: Array(text.utf8))).flatMap {
                    try? RelyingParty($0, of: client, isDevelopment: true)
                }
            }
        }
    }

    func put(_ party: RelyingParty, isAccount: Bool) throws {
        try connection.send(
            Statements.put,
            [
                party.client.value, .text(party.json.text), .integer(isAccount ? 1 : 0),
                .optional(party.resource?.identifier.description),
            ])
        try connection.send(Statements.deleteOrigins, [party.client.value])
        for origin in party.origins { try connection.send(Statements.addOrigin, [.text(origin), party.client.value]) }
    }

    func isOrigin(_ origin: String) throws -> Bool {
        try first(Statements.origin, [.text(origin)]) { try $0.integer(0) } != nil
    }

    func owner(of resource: ResourceIdentifier) throws -> ClientID? {
        try first(Statements.owner, [.text(resource.description)]) { try $0.id(0) }
    }

    func account() throws -> ClientID? { try first(Statements.account, []) { try $0.id(0) } }

    func namers(of type: TypeName) throws -> [ClientID] {
        let parties = try all(Statements.everyone, []) { try party(try $0.id(0), $0, at: 1) }
        return parties.filter { $0.names(type) }.map(\.client)
    }

    func delete(_ client: ClientID) throws -> Bool {
        try connection.send(Statements.deleteOrigins, [client.value])
        return try connection.execute(Statements.delete, [client.value]) == 1
    }
}
