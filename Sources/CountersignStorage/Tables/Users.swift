import CountersignCore
import CountersignWire
import Encodings

private enum Statements {
    static let linked = """
        SELECT u.id, l.external_id, u.created_at, l.enrollment_blocked FROM user_links l JOIN users u ON u.id = l.user_id
        WHERE l.client_id = $1
        """
    /// Serialises the operations of clients on one user, because they count limits and look for the last link.
    ///
    /// The link is locked as well, because after waiting for a lock PostgreSQL reads only the locked rows again;
    /// without this, a transaction that waited for the user would still see a link that was deleted meanwhile.
    static let locked = "FOR NO KEY UPDATE OF u FOR SHARE OF l"
    static let linkedByID = SQLStatement("\(linked) AND l.user_id = $2")
    static let linkedByIDLocked = SQLStatement("\(linked) AND l.user_id = $2 \(locked)")
    static let linkedByExternalID = SQLStatement("\(linked) AND l.external_id = $2")
    static let linkedByExternalIDLocked = SQLStatement("\(linked) AND l.external_id = $2 \(locked)")
    /// The account page needs nobody to stay.
    static let linkCount = SQLStatement(
        """
        SELECT count(*) FROM user_links l WHERE l.user_id = $1 AND NOT EXISTS
          (SELECT 1 FROM relying_parties p WHERE p.client_id = l.client_id AND p.account = 1)
        """)
    static let anyLink = SQLStatement("SELECT 1 FROM user_links WHERE user_id = $1 LIMIT 1")
    static let noticeReceivers = SQLStatement(
        """
        SELECT c.id, c.notice_uri, l.external_id, c.third_party FROM user_links l JOIN clients c ON c.id = l.client_id
        WHERE l.user_id = $1 AND c.notice_uri IS NOT NULL AND c.disabled_at IS NULL ORDER BY c.id
        """)
    static let insert = SQLStatement("INSERT INTO users (id, created_at) VALUES ($1, $2)")
    static let link = SQLStatement(
        """
        INSERT INTO user_links (client_id, user_id, external_id) VALUES ($1, $2, $3)
        ON CONFLICT (client_id, user_id) DO UPDATE SET external_id = excluded.external_id
        """)
    static let block = SQLStatement(
        "UPDATE user_links SET enrollment_blocked = $3 WHERE client_id = $1 AND user_id = $2")
    static let claims = SQLStatement("SELECT claims FROM user_links WHERE client_id = $1 AND user_id = $2")
    static let setClaims = SQLStatement("UPDATE user_links SET claims = $3 WHERE client_id = $1 AND user_id = $2")
    static let deleteLinks = SQLStatement("DELETE FROM user_links WHERE user_id = $1")
    static let unlink = SQLStatement("DELETE FROM user_links WHERE client_id = $1 AND user_id = $2")
    static let linkedUsers = SQLStatement("SELECT user_id FROM user_links WHERE client_id = $1 LIMIT $2")
    static let forgetBrowsers = SQLStatement("DELETE FROM known_browsers WHERE user_id = $1 AND client_id = $2")
    static let userCode = SQLStatement("SELECT user_code FROM users WHERE id = $1")
    static let setUserCode = SQLStatement("UPDATE users SET user_code = $2 WHERE id = $1")
    static let markDeleted = SQLStatement("UPDATE users SET deleted_at = $2, user_code = NULL WHERE id = $1")
}

/// Users and their links to clients.
extension SQLTransaction {
    func find(_ reference: UserReference, of client: ClientID) throws -> LinkedUser? {
        switch reference {
        case .id(let id):
            try first(
                locksRows ? Statements.linkedByIDLocked : Statements.linkedByID, [client.value, id.value],
                LinkedUser.init)
        case .externalID(let external):
            try first(
                locksRows ? Statements.linkedByExternalIDLocked : Statements.linkedByExternalID,
                [client.value, .text(external.text)], LinkedUser.init)
        }
    }

    func count(of user: UserID) throws -> Int {
        try first(Statements.linkCount, [user.value]) { Int(try $0.integer(0)) } ?? 0
    }

    func isLinked(_ user: UserID) throws -> Bool {
        try first(Statements.anyLink, [user.value]) { _ in true } ?? false
    }

    func ofNotices(of user: UserID) throws -> [NoticeReceiver] {
        try all(Statements.noticeReceivers, [user.value]) { row in
            let client: ClientID = try row.id(0)
            return NoticeReceiver(
                client: client, uri: CallbackURI(stored: try row.text(1)),
                externalID: try row.optionalValue(2) { try? ExternalID($0) },
                trustGroup: TrustGroup(of: client, isThirdParty: try row.integer(3) == 1))
        }
    }

    func insert(_ id: UserID, at time: Timestamp) throws {
        try connection.send(Statements.insert, [id.value, time.value])
    }

    func put(_ user: UserID, to client: ClientID, externalID: ExternalID?) throws -> Bool {
        if let externalID, let other = try find(.externalID(externalID), of: client), other.id != user {
            return false
        }
        try connection.send(Statements.link, [client.value, user.value, .optional(externalID?.text)])
        return true
    }

    func blockEnrollment(_ isBlocked: Bool, of user: UserID, by client: ClientID) throws {
        try connection.send(Statements.block, [client.value, user.value, .integer(isBlocked ? 1 : 0)])
    }

    func claims(of user: UserID, for client: ClientID) throws -> UserClaims? {
        let sealed = try first(Statements.claims, [client.value, user.value]) { try $0.optionalBlob(0) }
        return try sealed?.flatMap { sealed in
            UserClaims(try JSONValue(parsing: try sealer.open(sealed, for: UserClaims.place(client, user))))
        }
    }

    func setClaims(_ claims: UserClaims?, of user: UserID, by client: ClientID) throws {
        let sealed = try claims.map {
            try sealer.seal(JSONValue.object($0.json).encoded, for: UserClaims.place(client, user))
        }
        try connection.send(Statements.setClaims, [client.value, user.value, .optional(sealed)])
    }

    func deleteLinks(of user: UserID) throws { try connection.send(Statements.deleteLinks, [user.value]) }

    func delete(_ user: UserID, from client: ClientID) throws {
        try connection.send(Statements.unlink, [client.value, user.value])
        try connection.send(Statements.forgetBrowsers, [user.value, client.value])
    }

    func users(of client: ClientID, limit: Int) throws -> [UserID] {
        try all(Statements.linkedUsers, [client.value, .integer(Int64(limit))]) { try $0.id(0) }
    }

    func userCode(of user: UserID) throws -> KeyedHash? {
        try first(Statements.userCode, [user.value]) { try $0.optionalBlob(0).map { KeyedHash(stored: $0) } } ?? nil
    }

    func setUserCode(_ code: KeyedHash?, of user: UserID) throws {
        try connection.send(Statements.setUserCode, [user.value, .optional(code?.bytes)])
    }

    func markDeleted(_ user: UserID, at time: Timestamp) throws {
        try connection.send(Statements.markDeleted, [user.value, time.value])
    }
}

extension UserClaims {
    /// The associated data that the claims of a link are sealed with.
    static func place(_ client: some CustomStringConvertible, _ user: some CustomStringConvertible) -> String {
        "claims \(client) \(user)"
    }
}

extension LinkedUser {
    init(_ row: SQLRow) throws {
        self.init(
            id: try row.id(0), externalID: try row.optionalValue(1) { try? ExternalID($0) },
            isEnrollmentBlocked: try row.integer(3) == 1, createdAt: try row.time(2))
    }
}
