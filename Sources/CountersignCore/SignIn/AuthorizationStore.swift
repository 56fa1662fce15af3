package import CountersignWire

/// The authorizations, and the codes that clients redeem.
///
/// All methods throw ``StoreError``.
package protocol AuthorizationStore {
    func find(_ id: AuthorizationID) throws -> Authorization?
    /// The same, but nil also where the devices were asked by the latest ask already.
    func findUnasked(_ id: AuthorizationID) throws -> Authorization?
    func insert(_ authorization: Authorization) throws
    /// Puts a new ask in the place of the latest one, if the authorization is open.
    ///
    /// - Parameters:
    ///   - authorization: the authorization with its new user, wish and ask.
    ///   - earlier: the latest ask.
    ///   - at: the current time.
    /// - Returns: false if it is not open, or over, or if another ask has come meanwhile.
    func askAgain(_ authorization: Authorization, after earlier: Authorization.Ask?, at: Timestamp) throws -> Bool
    /// Puts a new wish in the place of the old one, if the authorization is not finished and its ask still the latest one.
    func putWanted(_ wanted: Wanted, of authorization: Authorization, at: Timestamp) throws
    /// Notes for whom the devices of a user are asked, before they are.
    ///
    /// - Returns: false if the authorization is not open, or if this challenge is not of its latest ask.
    func noteAsked(_ id: AuthorizationID, by challenge: ChallengeID, of user: UserID, isBrowserKnown: Bool) throws
        -> Bool
    /// Notes that the ask by this challenge was in vain.
    func decline(_ id: AuthorizationID, asked challenge: ChallengeID) throws
    /// Moves an authorization on, if it is in the state before and not over: the one update that decides every race.
    ///
    /// Only the latest ask authenticates, by its challenge or the id of its verification. What was granted can be redeemed for as long as its code is good.
    ///
    /// - Returns: false if it was not.
    func advance(
        _ id: AuthorizationID, to state: AuthorizationState, by verification: VerificationID?, at: Timestamp
    ) throws -> Bool
    /// Moves an authorization on from the authentication to the tokens, where its client gets no code; the same update.
    ///
    /// - Returns: false if it is not authenticated any more, or over.
    func redeem(
        _ id: AuthorizationID, _ authentication: Authentication, for family: TokenFamilyID, at: Timestamp
    ) throws -> Bool
    /// Gives a sign-in that a device has asked for to a browser in which its person agrees, if it is open and nobody else
    /// has taken it up.
    ///
    /// - Parameters:
    ///   - authorization: the authorization with its new browser, user, wish and state.
    ///   - former: the browser that it had.
    ///   - at: the current time.
    /// - Returns: false if it is not open any more, or over, or has another browser.
    func take(_ authorization: Authorization, from former: KeyedHash, at: Timestamp) throws -> Bool
    /// Notes by which code a person finds a sign-in that a device has asked for.
    ///
    /// - Returns: false if the code is taken.
    func insert(_ userCode: KeyedHash, of authorization: AuthorizationID, until: Timestamp) throws -> Bool
    /// The sign-in that a person finds by a code; nil for none.
    func find(userCode: KeyedHash) throws -> AuthorizationID?
    /// The authorizations of a user who is authenticated, and whose clients have nothing yet.
    func approved(of user: UserID) throws -> [Authorization]
    /// Users whom no client knows, and who have begun nothing since a time, each with a client at which they signed in.
    func undecided(since: Timestamp, limit: Int) throws -> [(user: UserID, client: ClientID)]
    /// Deletes the authorizations of a user at a client or, without a client, at all.
    func deleteAll(of user: UserID, at client: ClientID?) throws
    /// Deletes the authorizations of a user at a client, but for those that were refused, of which the client may not have
    /// heard yet.
    func deleteUnrefused(of user: UserID, at client: ClientID) throws
    func insert(_ code: AuthorizationCode) throws
    /// A code, with what it was given for.
    func find(_ code: SecretHash) throws -> (code: AuthorizationCode, authorization: Authorization)?
    /// Marks a code as spent.
    ///
    /// - Returns: false if it was spent before.
    func markSpent(_ code: SecretHash, at: Timestamp) throws -> Bool
}

extension AuthorizationStore {
    func advance(_ id: AuthorizationID, to state: AuthorizationState, at now: Timestamp) throws -> Bool {
        try advance(id, to: state, by: nil, at: now)
    }
}

/// A code that a client redeems for tokens.
package struct AuthorizationCode: Equatable, Sendable {
    /// How long it can be redeemed.
    ///
    /// Spec: RFC 6749 §4.1.2 (at most ten minutes), OWASP ASVS 10.4.3.
    package static let lifetime: Seconds = 60
    /// How long it is remembered after that, so that its reuse is noticed.
    package static let keptFor = Seconds.days(1)

    /// The hash of the code.
    package let hash: SecretHash
    /// The authorization that gave it.
    package let authorization: AuthorizationID
    /// The session in which it was given.
    package let session: SessionID
    /// When it can be redeemed no more.
    package let expiresAt: Timestamp
    /// When it was redeemed; nil if it was not.
    package let spentAt: Timestamp?

    /// A code of these parts.
    package init(
        hash: SecretHash, authorization: AuthorizationID, session: SessionID, expiresAt: Timestamp,
        spentAt: Timestamp? = nil
    ) {
        self.hash = hash
        self.authorization = authorization
        self.session = session
        self.expiresAt = expiresAt
        self.spentAt = spentAt
    }
}
