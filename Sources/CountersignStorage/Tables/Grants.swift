import CountersignCore
import CountersignWire

private enum Statements {
    private static let columns = "user_id, client_id, scopes, given_at"
    static let one = SQLStatement("SELECT \(columns) FROM grants WHERE user_id = $1 AND client_id = $2")
    static let ofUser = SQLStatement("SELECT \(columns) FROM grants WHERE user_id = $1 ORDER BY client_id")
    static let put = SQLStatement(
        """
        INSERT INTO grants (\(columns)) VALUES ($1, $2, $3, $4)
        ON CONFLICT (user_id, client_id) DO UPDATE SET scopes = excluded.scopes, given_at = excluded.given_at
        """)
    static let delete = SQLStatement("DELETE FROM grants WHERE user_id = $1 AND client_id = $2")
}

/// What users have allowed clients.
extension SQLTransaction {
    func find(_ user: UserID, for client: ClientID) throws -> Grant? {
        try first(Statements.one, [user.value, client.value], Self.grant)
    }

    func put(_ grant: Grant) throws {
        try connection.send(
            Statements.put,
            [
                grant.user.value, grant.client.value, .text(grant.scopes.sorted().joined(separator: " ")),
                grant.givenAt.value,
            ])
    }

    func deleteGrant(of user: UserID, for client: ClientID) throws {
        try connection.send(Statements.delete, [user.value, client.value])
    }

    func grants(of user: UserID) throws -> [Grant] {
        try all(Statements.ofUser, [user.value], Self.grant)
    }

    private static func grant(_ row: SQLRow) throws -> Grant {
        Grant(
            user: try row.id(0), client: try row.id(1),
            scopes: Set(try row.text(2).split(separator: " ").map(String.init)), givenAt: try row.time(3))
    }
}
