import CountersignCore
import CountersignWire
import Encodings

private enum Statements {
    private static let columns =
        """
        id, client_id, session_id, sid, scopes, authentication, generation, rotated_at, created_at, idle_until, expires_at,
        ended_at, resources
        """
    static let byID = SQLStatement("SELECT \(columns) FROM token_families WHERE id = $1")
    static let ofUser = SQLStatement("SELECT \(columns) FROM token_families WHERE user_id = $1 ORDER BY id")
    static let insert = SQLStatement(
        """
        INSERT INTO token_families
          (id, client_id, user_id, session_id, enrollment_id, sid, scopes, authentication, offline, generation, created_at,
          idle_until, expires_at, resources)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        """)
    /// Decides which of several requests with one refresh token replaces it.
    static let refresh = SQLStatement(
        """
        UPDATE token_families SET generation = $3, rotated_at = $4, idle_until = $5
        WHERE id = $1 AND generation = $2 AND ended_at IS NULL
        """)
    static let revoke = SQLStatement(
        "INSERT INTO revoked_tokens (jti, expires_at) VALUES ($1, $2) ON CONFLICT (jti) DO NOTHING")
    static let revoked = SQLStatement("SELECT 1 FROM revoked_tokens WHERE jti = $1")

    static let deleteAll = SQLStatement("DELETE FROM token_families WHERE user_id = $1")

    private static func end(_ condition: String) -> SQLStatement {
        SQLStatement("UPDATE token_families SET ended_at = $1, reason = $2 WHERE \(condition) AND ended_at IS NULL")
    }

    static let endOne = end("id = $3")
    static let endOfSession = end("session_id = $3 AND offline = 0")
    static let endOfWholeSession = end("session_id = $3")
    static let endOfDevice = end("user_id = $3 AND enrollment_id = $4")
    static let endOfUser = end("user_id = $3")
    static let endOfUserAndClient = end("user_id = $3 AND client_id = $4")
    static let endOfClient = end("client_id = $3 AND expires_at > $1")
}

/// The member beside those of the authentication that says by which door a family was given; none for the usual one.
private enum GrantMember {
    static let name = "grant"
}

/// Token families.
extension SQLTransaction {
    func find(_ id: TokenFamilyID) throws -> TokenFamily? {
        try first(Statements.byID, [id.value], Self.family)
    }

    func families(of user: UserID) throws -> [TokenFamily] {
        try all(Statements.ofUser, [user.value], Self.family)
    }

    private static func family(_ row: SQLRow) throws -> TokenFamily {
        // The columns have no NULL: an empty text stands for no session, and for no name of it.
        let (hasSession, hasName) = (try !row.text(2).isEmpty, try !row.text(3).isEmpty)
        let (authentication, keyThumbprint, origin, details) = try row.value(5) { text in
            (try? JSONValue(parsing: Array(text.utf8))).flatMap { json in
                Authentication(json).map {
                    ($0, KeyThumbprint(in: json), json[GrantMember.name]?.string, json[detailsMember]?.string)
                }
            }
        }
        return TokenFamily(
            id: try row.id(0), client: try row.id(1), session: hasSession ? try row.id(2) : nil,
            sid: hasName ? try row.text(3) : nil, scopes: try row.text(4).split(separator: " ").map(String.init),
            authentication: authentication, generation: try row.integer(6),
            rotatedAt: try row.optionalTime(7), createdAt: try row.time(8), idleUntil: try row.time(9),
            expiresAt: try row.time(10), endedAt: try row.optionalTime(11),
            resources: try row.optionalValue(12) { text in
                (try? JSONValue(parsing: Array(text.utf8))).flatMap { ResourceAccess.list($0) }
            } ?? [], keyThumbprint: keyThumbprint,
            origin: origin.flatMap { TokenFamily.Origin(rawValue: $0) } ?? .usual, sealedDetails: details)
    }

    /// The member of the authentication's column with what the person has authorized in detail, sealed; none for nothing.
    private static let detailsMember = "details"

    /// How the person was authenticated, the key to which the family is bound, of which the first families had none,
    /// by which door it was given, and what was authorized in detail.
    private static func authentication(of family: TokenFamily) -> JSONValue {
        var members = family.authentication.json.object ?? JSONObject()
        if let member = family.keyThumbprint?.member { members[member.name] = .string(member.value) }
        members[GrantMember.name] = family.origin == .usual ? nil : .string(family.origin.rawValue)
        members[detailsMember] = family.sealedDetails.map { .string($0) }
        return .object(members)
    }

    func refresh(
        _ family: TokenFamily, to generation: Int64, rotatedAt: Timestamp?, idleUntil: Timestamp
    ) throws -> Bool {
        let arguments: [SQLValue] = [
            family.id.value, .integer(family.generation), .integer(generation), .optional(rotatedAt?.milliseconds),
            idleUntil.value,
        ]
        return try connection.execute(Statements.refresh, arguments) == 1
    }

    func revoke(_ jti: String, until time: Timestamp) throws {
        try connection.send(Statements.revoke, [.text(jti), time.value])
    }

    func isRevoked(_ jti: String) throws -> Bool {
        try first(Statements.revoked, [.text(jti)]) { _ in true } ?? false
    }

    func insert(_ family: TokenFamily) throws {
        try connection.send(
            Statements.insert,
            [
                family.id.value, family.client.value, family.user.value,
                .text(family.session?.description ?? ""),
                .optional(family.authentication.evidence.enrollment?.description), .text(family.sid ?? ""),
                .text(family.scopes.joined(separator: " ")),
                .text(Self.authentication(of: family).text), .integer(family.isOffline ? 1 : 0),
                .integer(family.generation), family.createdAt.value, family.idleUntil.value, family.expiresAt.value,
                .optional(family.resources.isEmpty ? nil : ResourceAccess.json(family.resources).text),
            ])
    }

    func deleteFamilies(of user: UserID) throws {
        try connection.send(Statements.deleteAll, [user.value])
    }

    func end(_ selection: FamilySelection, because reason: FamilyEnd, at time: Timestamp) throws -> Int {
        let (statement, arguments): (SQLStatement, [SQLValue]) =
            switch selection {
            case .family(let id, _, _): (Statements.endOne, [id.value])
            case .session(let id): (Statements.endOfSession, [id.value])
            case .wholeSession(let id): (Statements.endOfWholeSession, [id.value])
            case .enrollment(let id, let user): (Statements.endOfDevice, [user.value, id.value])
            case .user(let id, nil): (Statements.endOfUser, [id.value])
            case .user(let id, let client?): (Statements.endOfUserAndClient, [id.value, client.value])
            case .client(let id): (Statements.endOfClient, [id.value])
            }
        return try connection.execute(statement, [time.value, .text(reason.rawValue)] + arguments)
    }
}
