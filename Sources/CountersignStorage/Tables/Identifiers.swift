import CountersignCore
import CountersignWire

private enum Statements {
    private static let columns = "id, user_id, kind, sealed, client_id, added_at, proved_at"
    static let verifiedByName = SQLStatement(
        "SELECT \(columns) FROM identifiers WHERE kind = $1 AND name = $2 AND client_id IS NULL")
    static let verifiedByID = SQLStatement(
        "SELECT \(columns) FROM identifiers WHERE id = $1 AND (client_id IS NULL OR proved_at IS NOT NULL)")
    static let claim = SQLStatement(
        "SELECT \(columns) FROM identifiers WHERE client_id = $1 AND kind = $2 AND name = $3")
    static let claimsOnName = SQLStatement(
        "SELECT \(columns) FROM identifiers WHERE kind = $1 AND name = $2 AND client_id IS NOT NULL ORDER BY id")
    static let ofUser = SQLStatement("SELECT \(columns) FROM identifiers WHERE user_id = $1 ORDER BY id")
    static let insert = SQLStatement(
        """
        INSERT INTO identifiers (id, user_id, kind, name, sealed, client_id, added_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
        """)
    static let prove = SQLStatement("UPDATE identifiers SET proved_at = $2 WHERE id = $1")
    static let delete = SQLStatement("DELETE FROM identifiers WHERE id = $1")
    static let deleteAll = SQLStatement("DELETE FROM identifiers WHERE user_id = $1")
    static let noteRemoved = SQLStatement(
        """
        INSERT INTO removed_addresses (user_id, kind, name, removed_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (user_id, kind, name) DO UPDATE SET removed_at = excluded.removed_at
        """)
    static let removed = SQLStatement(
        "SELECT removed_at FROM removed_addresses WHERE user_id = $1 AND kind = $2 AND name = $3")
    static let forgetRemoved = SQLStatement(
        "DELETE FROM removed_addresses WHERE user_id = $1 AND kind = $2 AND name = $3")
    static let forgetAllRemoved = SQLStatement("DELETE FROM removed_addresses WHERE user_id = $1")
    static let deleteClaims = SQLStatement("DELETE FROM identifiers WHERE user_id = $1 AND client_id = $2")
}

/// The addresses of users: verified ones, without a client, and what clients claim.
extension SQLTransaction {
    func verified(_ name: IdentifierName) throws -> VerifiedIdentifier? {
        try first(Statements.verifiedByName, Self.arguments(name), identifier)?.verified
    }

    func verified(_ id: IdentifierID) throws -> VerifiedIdentifier? {
        let found = try first(Statements.verifiedByID, [id.value], identifier)
        return found?.verified ?? found?.claim?.proved
    }

    func claim(_ name: IdentifierName, by client: ClientID) throws -> ClaimedIdentifier? {
        try first(Statements.claim, [client.value] + Self.arguments(name), identifier)?.claim
    }

    func claims(on name: IdentifierName) throws -> [ClaimedIdentifier] {
        try all(Statements.claimsOnName, Self.arguments(name), identifier).compactMap(\.claim)
    }

    func identifiers(of user: UserID) throws -> (verified: [VerifiedIdentifier], claims: [ClaimedIdentifier]) {
        let all = try all(Statements.ofUser, [user.value], identifier)
        return (all.compactMap(\.verified), all.compactMap(\.claim))
    }

    func insert(_ identifier: VerifiedIdentifier, as name: IdentifierName) throws -> Bool {
        try insert(identifier.id, of: identifier.user, name, identifier.address, nil, at: identifier.verifiedAt)
    }

    func insert(_ claim: ClaimedIdentifier, as name: IdentifierName) throws -> Bool {
        try insert(claim.id, of: claim.user, name, claim.address, claim.client, at: claim.claimedAt)
    }

    private func insert(
        _ id: IdentifierID, of user: UserID, _ name: IdentifierName, _ address: PersonalAddress, _ client: ClientID?,
        at time: Timestamp
    ) throws -> Bool {
        let sealed = try sealer.seal(Array("\(address)".utf8), for: VerifiedIdentifier.place("\(id)"))
        return try connection.execute(
            Statements.insert,
            [id.value, user.value] + Self.arguments(name) + [
                .blob(sealed), .optional(client?.description), time.value,
            ]) == 1
    }

    func prove(_ claim: IdentifierID, at time: Timestamp) throws {
        try connection.send(Statements.prove, [claim.value, time.value])
    }

    func noteRemoved(_ name: IdentifierName, of user: UserID, at time: Timestamp) throws {
        try connection.send(Statements.noteRemoved, [user.value] + Self.arguments(name) + [time.value])
    }

    func removed(_ name: IdentifierName, of user: UserID) throws -> Timestamp? {
        try first(Statements.removed, [user.value] + Self.arguments(name)) { try $0.time(0) }
    }

    func forgetRemoved(_ name: IdentifierName, of user: UserID) throws {
        try connection.send(Statements.forgetRemoved, [user.value] + Self.arguments(name))
    }

    func delete(_ id: IdentifierID) throws {
        try connection.send(Statements.delete, [id.value])
    }

    func deleteIdentifiers(of user: UserID, claimedBy client: ClientID?) throws {
        if let client {
            try connection.send(Statements.deleteClaims, [user.value, client.value])
        } else {
            try connection.send(Statements.deleteAll, [user.value])
            try connection.send(Statements.forgetAllRemoved, [user.value])
        }
    }

    private static func arguments(_ name: IdentifierName) -> [SQLValue] {
        [.text(name.kind.rawValue), .blob(name.hash.bytes)]
    }

    /// An identifier of either type.
    private func identifier(_ row: SQLRow) throws -> (verified: VerifiedIdentifier?, claim: ClaimedIdentifier?) {
        let (id, user): (IdentifierID, UserID) = (try row.id(0), try row.id(1))
        let text = try sealer.open(try row.blob(3), for: VerifiedIdentifier.place("\(id)"))
        guard let address = PersonalAddress(String(decoding: text, as: UTF8.self)) else {
            throw StoreError.corruptRow("identifier")
        }
        let time = try row.time(5)
        guard let client: ClientID = try row.optionalID(4) else {
            return (VerifiedIdentifier(id: id, user: user, address: address, verifiedAt: time), nil)
        }
        let claim = ClaimedIdentifier(
            id: id, user: user, address: address, client: client, claimedAt: time, provedAt: try row.optionalTime(6))
        return (nil, claim)
    }
}

extension VerifiedIdentifier {
    /// What a row's sealed address belongs to.
    static func place(_ id: String) -> String { "identifier \(id)" }
}
