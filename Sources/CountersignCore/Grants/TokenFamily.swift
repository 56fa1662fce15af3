package import CountersignWire

/// What one redemption gave a client: all tokens that belong together, and end together.
package struct TokenFamily: Equatable, Sendable {
    /// The scope that asks for an ID token.
    ///
    /// Spec: OpenID Connect Core 1.0 §3.1.2.1.
    package static let openID = "openid"

    /// Its id, with which the `jti` of its access tokens begins.
    package let id: TokenFamilyID
    /// The client.
    package let client: ClientID
    /// The session in which it began.
    package let session: SessionID
    /// The scopes.
    package let scopes: [String]
    /// Who was authenticated, how and when.
    package let authentication: Authentication
    /// When it was given.
    package let createdAt: Timestamp
    /// When its last token ends.
    package let expiresAt: Timestamp
    /// When it was ended before; nil if it was not.
    package let endedAt: Timestamp?

    /// The user.
    package var user: UserID { authentication.user }

    /// Whether its tokens are good at a time.
    package func isActive(at now: Timestamp) -> Bool { endedAt == nil && now < expiresAt }

    /// A family of these parts.
    package init(
        id: TokenFamilyID, client: ClientID, session: SessionID, scopes: [String], authentication: Authentication,
        createdAt: Timestamp, expiresAt: Timestamp, endedAt: Timestamp? = nil
    ) {
        self.id = id
        self.client = client
        self.session = session
        self.scopes = scopes
        self.authentication = authentication
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.endedAt = endedAt
    }
}

/// How long tokens are good.
package enum TokenLifetimes {
    /// An access token, which somebody else may have copied.
    package static let access = Seconds.minutes(10)
    /// The longest that an access token may be good.
    package static let longestAccess = Seconds.hours(1)
    /// An ID token, which the client reads at once.
    package static let identity = Seconds.minutes(10)
}

/// Why token families end.
package enum FamilyEnd: String, Sendable {
    /// The code was redeemed twice. Spec: RFC 6749 §4.1.2.
    case codeReused = "code_reused"
    /// The session has ended.
    case sessionEnded = "session_ended"
    /// The device that approved was removed.
    case enrollmentRemoved = "enrollment_removed"
    /// The user was deleted, or is linked to the client no more.
    case userRemoved = "user_removed"
    /// The client was disabled or deleted, or uses the provider no more.
    case clientEnded = "client_ended"
}

/// Which families end.
package enum FamilySelection: Sendable {
    /// This one of a user at a client.
    case family(TokenFamilyID, of: UserID, at: ClientID)
    /// Those that began in a session.
    case session(SessionID)
    /// Those of a user that began with an approval on a device.
    case enrollment(EnrollmentID, of: UserID)
    /// Those of a user; at one client or, without a client, at all.
    case user(UserID, ClientID?)
    /// Those of a client.
    case client(ClientID)
}

extension FamilySelection {
    /// The client that the audit names; nil for none.
    var client: ClientID? {
        switch self {
        case .client(let client), .family(_, _, let client): client
        case .user(_, let client): client
        case .session, .enrollment: nil
        }
    }

    /// The user that the audit names; nil for none.
    var user: UserID? {
        switch self {
        case .user(let user, _), .enrollment(_, let user), .family(_, let user, _): user
        case .session, .client: nil
        }
    }

    /// The enrollment that the audit names; nil for none.
    var enrollment: EnrollmentID? { if case .enrollment(let enrollment, _) = self { enrollment } else { nil } }
}

/// The token families.
///
/// All methods throw ``StoreError``.
package protocol TokenFamilyStore {
    func find(_ id: TokenFamilyID) throws -> TokenFamily?
    func insert(_ family: TokenFamily) throws
    /// The families of a user, oldest first.
    func families(of user: UserID) throws -> [TokenFamily]
    /// Deletes the families of a user.
    func deleteFamilies(of user: UserID) throws
    /// Ends those that have not ended.
    ///
    /// - Returns: how many were ended.
    func end(_ selection: FamilySelection, because: FamilyEnd, at: Timestamp) throws -> Int
}

extension UnitOfWork {
    /// Ends token families, and records it.
    func endFamilies(_ selection: FamilySelection, because reason: FamilyEnd) throws {
        let count = try families.end(selection, because: reason, at: now)
        if count > 0 { try raise(.tokensEnded(selection, reason, count: count)) }
    }
}
