package import CountersignWire

/// What one redemption gave a client: all tokens that belong together, and end together.
package struct TokenFamily: Equatable, Sendable {
    /// The scope that asks for an ID token.
    ///
    /// Spec: OpenID Connect Core 1.0 §3.1.2.1.
    package static let openID = "openid"

    /// The scope that asks for a refresh token.
    ///
    /// Spec: OpenID Connect Core 1.0 §11.
    package static let offlineAccess = "offline_access"

    /// Its id, with which the `jti` of its access tokens begins.
    package let id: TokenFamilyID
    /// The client.
    package let client: ClientID
    /// The session in which it began; nil where there is no browser.
    package let session: SessionID?
    /// The session's name for the client; nil where there is none.
    package let sid: String?
    /// The scopes.
    package let scopes: [String]
    /// Who was authenticated, how and when.
    package let authentication: Authentication
    /// Which refresh token is good: the number of those before it.
    package let generation: Int64
    /// When the one before it was replaced; nil if none was.
    package let rotatedAt: Timestamp?
    /// When it was given.
    package let createdAt: Timestamp
    /// When it ends unless it is used before.
    package let idleUntil: Timestamp
    /// When its last token ends in any case.
    package let expiresAt: Timestamp
    /// When it was ended before; nil if it was not.
    package let endedAt: Timestamp?
    /// What it is good for at APIs.
    package let resources: [ResourceAccess]
    /// The key by which it began, to which an app's refresh token is bound; nil for none.
    ///
    /// Spec: RFC 9449 §5.
    package let keyThumbprint: KeyThumbprint?
    /// By which door the client got it.
    package let origin: Origin

    /// The doors by which clients get tokens.
    package enum Origin: String, CaseIterable, Sendable {
        /// A browser's code, or what a device signs.
        case usual
        /// The device grant, in no browser's session.
        ///
        /// Spec: RFC 8628.
        case device = "device_code"
        /// What a client's server has asked, in no browser's session.
        ///
        /// Spec: CIBA Core 1.0.
        case backchannel = "ciba"
    }

    /// Whether a device got it by the device grant.
    package var isDeviceGrant: Bool { origin == .device }
    /// What the person has authorized in detail, sealed; nil for nothing.
    package let sealedDetails: String?

    /// The user.
    package var user: UserID { authentication.user }
    /// Whether it outlives the session, with refresh tokens.
    package var isOffline: Bool { scopes.contains(Self.offlineAccess) }

    /// Whether its tokens are good at a time.
    package func isActive(at now: Timestamp) -> Bool { endedAt == nil && now < expiresAt && now < idleUntil }

    /// Whether a refresh token is the good one, or the one before it within its grace.
    func accepts(_ shown: Int64, within grace: Seconds, at now: Timestamp) -> Bool {
        guard shown != generation else { return true }
        guard shown == generation - 1, let rotatedAt else { return false }
        return now < rotatedAt.adding(grace)
    }

    /// A family of these parts.
    package init(
        id: TokenFamilyID, client: ClientID, session: SessionID?, sid: String?, scopes: [String],
        authentication: Authentication, generation: Int64, rotatedAt: Timestamp?, createdAt: Timestamp,
        idleUntil: Timestamp, expiresAt: Timestamp,
        endedAt: Timestamp?, resources: [ResourceAccess] = [], keyThumbprint: KeyThumbprint? = nil,
        origin: Origin = .usual, sealedDetails: String? = nil
    ) {
        self.id = id
        self.client = client
        self.session = session
        self.sid = sid
        self.scopes = scopes
        self.authentication = authentication
        self.generation = generation
        self.rotatedAt = rotatedAt
        self.createdAt = createdAt
        self.idleUntil = idleUntil
        self.expiresAt = expiresAt
        self.endedAt = endedAt
        self.resources = resources
        self.keyThumbprint = keyThumbprint
        self.origin = origin
        self.sealedDetails = sealedDetails
    }

    /// A family that is given now.
    init(
        id: TokenFamilyID, client: ClientID, session: SessionID?, sid: String?, scopes: [String],
        resources: [ResourceAccess], authentication: Authentication, boundTo keyThumbprint: KeyThumbprint?,
        at now: Timestamp, origin: Origin = .usual, sealedDetails: String? = nil
    ) {
        let isOffline = scopes.contains(Self.offlineAccess)
        let (idle, absolute) =
            isOffline
            ? (TokenLifetimes.refreshIdle, TokenLifetimes.refresh) : (TokenLifetimes.access, TokenLifetimes.access)
        self.init(
            id: id, client: client, session: session, sid: sid, scopes: scopes, authentication: authentication,
            generation: 0,
            rotatedAt: nil, createdAt: now, idleUntil: now.adding(idle), expiresAt: now.adding(absolute), endedAt: nil,
            resources: resources, keyThumbprint: keyThumbprint, origin: origin, sealedDetails: sealedDetails)
    }
}

/// How long tokens are good.
package enum TokenLifetimes {
    /// An access token, which somebody else may have copied.
    package static let access = Seconds.minutes(10)
    /// The longest that an access token may be good.
    package static let longestAccess = Seconds.hours(1)
    /// A refresh token that is not used.
    package static let refreshIdle = Seconds.days(30)
    /// A refresh token, however often it is used.
    ///
    /// Spec: OWASP ASVS 10.4.8.
    package static let refresh = Seconds.days(90)
    /// An ID token, which the client reads at once.
    package static let identity = Seconds.minutes(10)
}

/// Why token families end.
package enum FamilyEnd: String, Sendable {
    /// The code was redeemed twice. Spec: RFC 6749 §4.1.2.
    case codeReused = "code_reused"
    /// The client's server was to be brought its tokens, and has not taken them. Spec: CIBA Core 1.0 §10.3.1.
    case notDelivered = "not_delivered"
    /// A refresh token came that was replaced. Spec: RFC 9700 §4.14.2.
    case refreshReused = "refresh_reused"
    /// The client took it back. Spec: RFC 7009 §2.
    case revoked
    /// The session has ended.
    case sessionEnded = "session_ended"
    /// The user has ended what the client may have.
    case accessEnded = "access_ended"
    /// The device that approved was removed.
    case enrollmentRemoved = "enrollment_removed"
    /// The user was deleted, or is linked to the client no more.
    case userRemoved = "user_removed"
    /// The client was disabled or deleted, or uses the provider no more.
    case clientEnded = "client_ended"
    /// The client has become strict. Spec: FAPI 2.0 Security Profile §5.3.2.1.
    case clientStrict = "client_strict"
}

/// Which families end.
package enum FamilySelection: Sendable {
    /// This one of a user at a client.
    case family(TokenFamilyID, of: UserID, at: ClientID)
    /// Those that began in a session, and do not outlive it.
    case session(SessionID)
    /// All that began in a session.
    case wholeSession(SessionID)
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
        case .session, .wholeSession, .enrollment: nil
        }
    }

    /// The user that the audit names; nil for none.
    var user: UserID? {
        switch self {
        case .user(let user, _), .enrollment(_, let user), .family(_, let user, _): user
        case .session, .wholeSession, .client: nil
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
    /// Notes that a family was used, and which refresh token is good from now on.
    ///
    /// - Returns: false if another one is good than the caller has read: the one update that decides every race.
    func refresh(
        _ family: TokenFamily, to generation: Int64, rotatedAt: Timestamp?, idleUntil: Timestamp
    ) throws -> Bool
    /// Takes an access token back until it is over.
    func revoke(_ jti: String, until: Timestamp) throws
    func isRevoked(_ jti: String) throws -> Bool
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
