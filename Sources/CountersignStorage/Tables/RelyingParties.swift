import CountersignCore
import CountersignWire
import Encodings
import RelyingPartyAPI

private enum Statements {
    static let byID = SQLStatement("SELECT settings FROM relying_parties WHERE client_id = $1")
    static let heldByID = SQLStatement("\(byID.text) FOR SHARE")
    static let put = SQLStatement(
        """
        INSERT INTO relying_parties (client_id, settings) VALUES ($1, $2)
        ON CONFLICT (client_id) DO UPDATE SET settings = excluded.settings
        """)
    static let delete = SQLStatement("DELETE FROM relying_parties WHERE client_id = $1")
}

/// How clients use the OpenID provider.
extension SQLTransaction {
    func find(_ client: ClientID) throws -> RelyingParty? { try party(client, Statements.byID) }

    func lock(_ client: ClientID) throws -> RelyingParty? {
        try party(client, locksRows ? Statements.heldByID : Statements.byID)
    }

    private func party(_ client: ClientID, _ statement: SQLStatement) throws -> RelyingParty? {
        try first(statement, [client.value]) { row in
            try row.value(0) { text in
                // A URI that was accepted in development mode stays.
                (try? JSONValue(parsing: Array(text.utf8))).flatMap {
                    try? RelyingParty($0, of: client, isDevelopment: true)
                }
            }
        }
    }

    func put(_ party: RelyingParty) throws {
        try connection.send(Statements.put, [party.client.value, .text(party.json.text)])
    }

    func delete(_ client: ClientID) throws -> Bool {
        try connection.execute(Statements.delete, [client.value]) == 1
    }
}
