import CountersignCore
import CountersignWire
import Encodings

private enum Statements {
    static let columns = """
        id, client_id, wanted, browser, user_id, state, authentication, family_id, ask_number, ask_until,
        ask_challenge_id, ask_known, ask_declined, expires_at, ask_verification_id
        """
    static let byID = SQLStatement("SELECT \(columns) FROM authorizations WHERE id = $1")
    static let unasked = SQLStatement(
        "\(byID.text) AND (SELECT count(*) FROM challenges c WHERE c.id = ask_challenge_id) = 0")
    static let insert = SQLStatement(
        """
        INSERT INTO authorizations (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
          $15)
        """)
    static let ask = SQLStatement(
        """
        UPDATE authorizations SET user_id = $2, wanted = $3, ask_number = $4, ask_until = $5, ask_challenge_id = $6,
          ask_known = $7, ask_declined = $8, ask_verification_id = $9
        WHERE id = $1 AND state = 'open' AND expires_at > $10
        AND COALESCE(ask_challenge_id, ask_verification_id, '') = $11
        """)
    static let putWanted = SQLStatement(
        """
        UPDATE authorizations SET wanted = $2
        WHERE id = $1 AND state IN ('open', 'authenticated') AND expires_at > $3
        AND COALESCE(ask_challenge_id, ask_verification_id, '') = $4
        """)
    static let noteAsked = SQLStatement(
        """
        UPDATE authorizations SET user_id = $3, ask_known = $4
        WHERE id = $1 AND state = 'open' AND ask_challenge_id = $2
        """)
    static let decline = SQLStatement(
        "UPDATE authorizations SET ask_declined = 1 WHERE id = $1 AND state = 'open' AND ask_challenge_id = $2")
    /// Decides every race between the steps of a sign-in.
    static let advance = SQLStatement(
        """
        UPDATE authorizations SET state = $2, authentication = $3, family_id = $4, user_id = COALESCE($7, user_id)
        WHERE id = $1 AND state = $5 AND (expires_at > $6 OR $5 = 'granted')
        AND ($2 <> 'authenticated' OR ask_challenge_id = $8 OR ask_verification_id = $9)
        """)
    static let refuse = SQLStatement(
        """
        UPDATE authorizations SET state = 'refused'
        WHERE id = $1 AND state IN ('open', 'authenticated') AND expires_at > $2
        """)
    static let approved = SQLStatement(
        "SELECT \(columns) FROM authorizations WHERE user_id = $1 AND state = 'authenticated' ORDER BY id")
    static let undecided = SQLStatement(
        """
        SELECT user_id, client_id FROM authorizations a WHERE expires_at < $1 AND user_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM user_links l WHERE l.user_id = a.user_id)
        AND NOT EXISTS (SELECT 1 FROM authorizations b WHERE b.user_id = a.user_id AND b.expires_at >= $1)
        LIMIT $2
        """)
    static let deleteAll = SQLStatement("DELETE FROM authorizations WHERE user_id = $1")
    static let deleteAllAtClient = SQLStatement("DELETE FROM authorizations WHERE user_id = $1 AND client_id = $2")
    static let deleteUnrefused = SQLStatement("\(deleteAllAtClient.text) AND state <> 'refused'")
    static let code = SQLStatement(
        """
        SELECT \(columns.qualified(by: "a")), c.session_id, c.expires_at, c.spent_at
        FROM codes c JOIN authorizations a ON a.id = c.authorization_id WHERE c.hash = $1 AND c.session_id <> ''
        """)
    /// A code that a person types is in no session.
    static let userCode = SQLStatement("SELECT authorization_id FROM codes WHERE hash = $1 AND session_id = ''")
    static let insertUserCode = SQLStatement(
        """
        INSERT INTO codes (hash, authorization_id, session_id, expires_at) VALUES ($1, $2, '', $3)
        ON CONFLICT (hash) DO NOTHING
        """)
    static let take = SQLStatement(
        """
        UPDATE authorizations SET browser = $2, user_id = $3, wanted = $4, state = $5, authentication = $6
        WHERE id = $1 AND state = 'open' AND expires_at > $7 AND browser = $8
        """)
    static let insertCode = SQLStatement(
        "INSERT INTO codes (hash, authorization_id, session_id, expires_at) VALUES ($1, $2, $3, $4)")
    static let spend = SQLStatement("UPDATE codes SET spent_at = $2 WHERE hash = $1 AND spent_at IS NULL")
}

/// Authorizations, and the codes that clients redeem.
extension SQLTransaction {
    func find(_ id: AuthorizationID) throws -> Authorization? {
        try first(Statements.byID, [id.value], authorization)
    }

    func findUnasked(_ id: AuthorizationID) throws -> Authorization? {
        try first(Statements.unasked, [id.value], authorization)
    }

    func insert(_ authorization: Authorization) throws {
        let id = authorization.id
        try connection.send(
            Statements.insert,
            [
                id.value, authorization.client.value,
                try sealed(authorization.wanted, of: id), .blob(authorization.browser.bytes),
                .optional(authorization.user?.description),
                .text(authorization.state.name),
            ] + columns(of: authorization.state) + (try columns(of: authorization.ask, of: id))
                + [authorization.expiresAt.value, Self.verification(of: authorization.ask)])
    }

    func askAgain(
        _ authorization: Authorization, after earlier: Authorization.Ask?, at time: Timestamp
    ) throws -> Bool {
        let id = authorization.id
        let arguments: [SQLValue] =
            [
                id.value, .optional(authorization.user?.description), try sealed(authorization.wanted, of: id),
            ] + (try columns(of: authorization.ask, of: id)) + [
                Self.verification(of: authorization.ask), time.value, .text(Self.name(of: earlier)),
            ]
        return try connection.execute(Statements.ask, arguments) == 1
    }

    func putWanted(_ wanted: Wanted, of authorization: Authorization, at time: Timestamp) throws {
        let id = authorization.id
        try connection.send(
            Statements.putWanted,
            [id.value, try sealed(wanted, of: id), time.value, .text(Self.name(of: authorization.ask))])
    }

    /// What tells an ask from all others.
    private static func name(of ask: Authorization.Ask?) -> String {
        ask?.challenge?.description ?? ask?.verification?.id.description ?? ""
    }

    func noteAsked(
        _ id: AuthorizationID, by challenge: ChallengeID, of user: UserID, isBrowserKnown: Bool
    ) throws -> Bool {
        try connection.execute(
            Statements.noteAsked,
            [id.value, challenge.value, user.value, .integer(isBrowserKnown ? 1 : 0)]) == 1
    }

    private static func verification(of ask: Authorization.Ask?) -> SQLValue {
        .optional(ask?.verification?.id.description)
    }

    private func sealed(_ wanted: Wanted, of id: AuthorizationID) throws -> SQLValue {
        .blob(try sealer.seal(wanted.json.encoded, for: Authorization.place("\(id)")))
    }

    func decline(_ id: AuthorizationID, asked challenge: ChallengeID) throws {
        try connection.send(Statements.decline, [id.value, challenge.value])
    }

    func advance(
        _ id: AuthorizationID, to state: AuthorizationState, by verification: VerificationID?, at time: Timestamp
    ) throws -> Bool {
        if case .refused = state { return try connection.execute(Statements.refuse, [id.value, time.value]) == 1 }
        let before =
            switch state {
            case .open, .authenticated, .refused: "open"
            case .granted: "authenticated"
            case .redeemed: "granted"
            }
        return try advance(id, from: before, to: state, by: verification, at: time)
    }

    func redeem(
        _ id: AuthorizationID, _ authentication: Authentication, for family: TokenFamilyID, at time: Timestamp
    ) throws -> Bool {
        try advance(id, from: "authenticated", to: .redeemed(authentication, family), by: nil, at: time)
    }

    private func advance(
        _ id: AuthorizationID, from before: String, to state: AuthorizationState, by verification: VerificationID?,
        at time: Timestamp
    ) throws -> Bool {
        let arguments =
            [id.value, .text(state.name)] + columns(of: state) + [
                .text(before), time.value, .optional(state.authentication?.user.description),
                .optional(state.authentication?.evidence.challenge?.description),
                .optional(verification?.description),
            ]
        return try connection.execute(Statements.advance, arguments) == 1
    }

    func take(_ authorization: Authorization, from former: KeyedHash, at time: Timestamp) throws -> Bool {
        let id = authorization.id
        return try connection.execute(
            Statements.take,
            [
                id.value, .blob(authorization.browser.bytes), .optional(authorization.user?.description),
                try sealed(authorization.wanted, of: id), .text(authorization.state.name),
                .optional(authorization.state.authentication?.json.text), time.value, .blob(former.bytes),
            ]) == 1
    }

    func insert(_ userCode: KeyedHash, of authorization: AuthorizationID, until time: Timestamp) throws -> Bool {
        try connection.execute(
            Statements.insertUserCode, [.blob(userCode.bytes), authorization.value, time.value]) == 1
    }

    func find(userCode: KeyedHash) throws -> AuthorizationID? {
        try first(Statements.userCode, [.blob(userCode.bytes)]) { try $0.id(0) }
    }

    func approved(of user: UserID) throws -> [Authorization] {
        try all(Statements.approved, [user.value], authorization)
    }

    func undecided(since time: Timestamp, limit: Int) throws -> [(user: UserID, client: ClientID)] {
        try all(Statements.undecided, [time.value, .integer(Int64(limit))]) { row in
            (user: try row.id(0), client: try row.id(1))
        }
    }

    func deleteAll(of user: UserID, at client: ClientID?) throws {
        if let client {
            try connection.send(Statements.deleteAllAtClient, [user.value, client.value])
        } else {
            try connection.send(Statements.deleteAll, [user.value])
        }
    }

    func deleteUnrefused(of user: UserID, at client: ClientID) throws {
        try connection.send(Statements.deleteUnrefused, [user.value, client.value])
    }

    func insert(_ code: AuthorizationCode) throws {
        try connection.send(
            Statements.insertCode,
            [.blob(code.hash.bytes), code.authorization.value, code.session.value, code.expiresAt.value])
    }

    func find(_ hash: SecretHash) throws -> (code: AuthorizationCode, authorization: Authorization)? {
        try first(Statements.code, [.blob(hash.bytes)]) { row in
            let authorization = try self.authorization(row)
            let code = AuthorizationCode(
                hash: hash, authorization: authorization.id, session: try row.id(15), expiresAt: try row.time(16),
                spentAt: try row.optionalTime(17))
            return (code, authorization)
        }
    }

    func markSpent(_ code: SecretHash, at time: Timestamp) throws -> Bool {
        try connection.execute(Statements.spend, [.blob(code.bytes), time.value]) == 1
    }

    /// The columns authentication and family_id.
    private func columns(of state: AuthorizationState) -> [SQLValue] {
        var family: TokenFamilyID?
        if case .redeemed(_, let id) = state { family = id }
        return [.optional(state.authentication?.json.text), .optional(family?.description)]
    }

    /// The columns of the ask.
    private func columns(of ask: Authorization.Ask?, of id: AuthorizationID) throws -> [SQLValue] {
        guard let ask else { return [.null, .null, .null, .null, .null] }
        return [
            try number(of: ask, of: id),
            ask.until.value, .optional(ask.challenge?.description), .integer(ask.isBrowserKnown ? 1 : 0),
            .integer(ask.isDeclined ? 1 : 0),
        ]
    }

    /// The sealed number; nothing where a code is shown.
    private func number(of ask: Authorization.Ask, of id: AuthorizationID) throws -> SQLValue {
        switch ask.shown {
        case .number(let number):
            .blob(try sealer.seal(Array(number.digits.utf8), for: Authorization.numberPlace("\(id)")))
        case .code, .field: .null
        }
    }

    private func authorization(_ row: SQLRow) throws -> Authorization {
        let id: AuthorizationID = try row.id(0)
        let sealed = try sealer.open(try row.blob(2), for: Authorization.place("\(id)"))
        guard let wanted = (try? JSONValue(parsing: sealed)).flatMap({ Wanted($0) }) else {
            throw StoreError.corruptRow("authorization")
        }
        return Authorization(
            id: id, wanted: wanted, browser: KeyedHash(stored: try row.blob(3)), user: try row.optionalID(4),
            ask: try ask(row, of: id, wanted), state: try authorizationState(row), expiresAt: try row.time(13))
    }

    private func ask(_ row: SQLRow, of id: AuthorizationID, _ wanted: Wanted) throws -> Authorization.Ask? {
        guard let until = try row.optionalTime(9) else { return nil }
        var shown = Authorization.Ask.Shown.code
        if let sealed = try row.optionalBlob(8) {
            let digits = try sealer.open(sealed, for: Authorization.numberPlace("\(id)"))
            guard let number = EntryNumber(String(decoding: digits, as: UTF8.self)) else {
                throw StoreError.corruptRow("authorization")
            }
            shown = .number(number)
        } else if let verification: VerificationID = try row.optionalID(14) {
            guard let address = wanted.identifier?.address else { throw StoreError.corruptRow("authorization") }
            shown = .field(Verification(id: verification, address: address))
        }
        return Authorization.Ask(
            shown, until: until, challenge: try row.optionalID(10),
            isBrowserKnown: try row.integer(11) == 1, isDeclined: try row.integer(12) == 1)
    }

    private func authorizationState(_ row: SQLRow) throws -> AuthorizationState {
        let name = try row.text(5)
        if name == "open" { return .open }
        if name == "refused" { return .refused }
        let authentication = try row.authentication(6)
        switch name {
        case "authenticated": return .authenticated(authentication)
        case "granted": return .granted(authentication)
        case "redeemed": return .redeemed(authentication, try row.id(7))
        default: throw StoreError.corruptRow("authorization state")
        }
    }
}

extension Authorization {
    /// What seals the row's wish and its number belong to.
    static func place(_ id: String) -> String { "authorization \(id)" }

    static func numberPlace(_ id: String) -> String { "number \(id)" }
}

extension SQLRow {
    func authentication(_ column: Int) throws -> Authentication {
        try value(column) { text in (try? JSONValue(parsing: Array(text.utf8))).flatMap { Authentication($0) } }
    }
}
