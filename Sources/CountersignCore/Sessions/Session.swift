package import CountersignWire
import Encodings

/// A browser's sign-in at the issuer, shared by all clients that the user signs in to from there.
package struct Session: Equatable, Sendable {
    /// How many a user can have, also of those that were not used for too long.
    ///
    /// Spec: docs/reference/limits.md.
    package static let maximumCount = 50

    /// How long it lasts without being used, and in any case.
    ///
    /// Spec: NIST SP 800-63B-4 §2.1.3, §2.2.3.
    package static func limits(of strength: Authentication.Strength) -> (idle: Seconds, absolute: Seconds) {
        switch strength {
        // A passkey is good where AAL2 is wanted.
        case .aal2, .phishingResistant, .hardwareBound: (.hours(1), .hours(24))
        case .address, .device, .twoFactors: (.hours(12), .days(30))
        }
    }

    /// Its id.
    package let id: SessionID
    /// The hash of the cookie's value, which is new at every authentication.
    package let secretHash: SecretHash
    /// Who was authenticated, how and when.
    package let authentication: Authentication
    /// From where it was opened, as the account page shows it; nil where nothing is known.
    package let place: ContextLine?
    /// When it was opened.
    package let createdAt: Timestamp
    /// When it ends unless it is used before.
    package let idleUntil: Timestamp
    /// When it ends in any case.
    package let expiresAt: Timestamp

    /// The user.
    package var user: UserID { authentication.user }

    /// A session of these parts.
    package init(
        id: SessionID, secretHash: SecretHash, authentication: Authentication, place: ContextLine?,
        createdAt: Timestamp, idleUntil: Timestamp, expiresAt: Timestamp
    ) {
        self.id = id
        self.secretHash = secretHash
        self.authentication = authentication
        self.place = place
        self.createdAt = createdAt
        self.idleUntil = idleUntil
        self.expiresAt = expiresAt
    }

    /// A session that is opened now.
    init(
        id: SessionID, secret: Secret<String>, _ authentication: Authentication, from place: ContextLine?,
        at now: Timestamp
    ) {
        let limits = Self.limits(of: authentication.strength)
        self.init(
            id: id, secretHash: SecretHash(of: secret), authentication: authentication, place: place, createdAt: now,
            idleUntil: now.adding(limits.idle), expiresAt: now.adding(limits.absolute))
    }

    /// Whether somebody can go on in it, if nobody has ended it.
    func isOpen(at now: Timestamp) -> Bool { now < idleUntil && now < expiresAt }

    /// When it was used last.
    package var usedAt: Timestamp { idleUntil.adding(-Self.limits(of: authentication.strength).idle) }

    /// Until when it lasts if it is used now, unless it ends before in any case.
    func idle(at now: Timestamp) -> Timestamp {
        now.adding(Self.limits(of: authentication.strength).idle)
    }
}

/// What a session is called for a client.
package struct SessionName: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// The name, which the client has from an ID token.
    package let sid: String

    /// A name of these parts.
    package init(client: ClientID, sid: String) {
        self.client = client
        self.sid = sid
    }
}

/// The sessions, and the clients that take part in them.
///
/// All methods throw ``StoreError``.
package protocol SessionStore {
    func insert(_ session: Session) throws
    /// Replaces all of a session but its id and the clients that take part in it.
    ///
    /// - Returns: false if somebody has ended it, or it is not there any more: then nothing is replaced.
    func renew(_ session: Session) throws -> Bool
    func use(_ session: SessionID, until: Timestamp) throws
    /// The session of a cookie that nobody has ended, also where it was not used for too long.
    ///
    /// Nobody goes on in such a session. But its clients' own sessions may last longer, so that it can still be ended.
    func lasting(_ secret: SecretHash, at: Timestamp) throws -> Session?
    /// A session that nobody has ended, also where it was not used for too long.
    func lasting(_ session: SessionID, at: Timestamp) throws -> Session?
    /// Whether somebody can go on in a session: nobody has ended it, and it was used lately.
    func isOpen(_ session: SessionID, at: Timestamp) throws -> Bool
    /// The sessions of a user that nobody has ended, oldest first, also those that were not used for too long.
    func lasting(of user: UserID, at: Timestamp) throws -> [Session]
    /// Deletes the sessions of a user.
    func deleteSessions(of user: UserID) throws
    /// Ends the sessions of a user that an approval on a device opened or renewed last.
    func endAll(of user: UserID, by enrollment: EnrollmentID, at: Timestamp) throws
    /// Ends a session.
    func end(_ session: SessionID, at: Timestamp) throws
    /// The name of a session for a client; it is given at the first call, and stays.
    ///
    /// Each client has another name: a client is told of the end of what it knows. Spec: OpenID Connect Back-Channel Logout
    /// 1.0 §2.1.
    func sid(of session: SessionID, for client: ClientID, new: String) throws -> String
    /// The name of a session for a client; nil if it was given none.
    func sid(of session: SessionID, for client: ClientID) throws -> String?
    /// Deletes all names of a session and returns them, in the order of the clients; of several calls one gets each name.
    func takeNames(of session: SessionID) throws -> [SessionName]
    /// Deletes the names of a user's sessions for a client and returns them, in their order.
    func takeNames(of user: UserID, for client: ClientID, at: Timestamp) throws -> [SessionName]
    /// Deletes a name of a session for a client. The next sign-in there gets another.
    ///
    /// - Returns: false if the session has no such name there.
    func take(_ sid: String, of session: SessionID, for client: ClientID) throws -> Bool
}

extension SessionStore {
    /// The session of a cookie; nil if there is none, or if it has ended.
    package func find(_ secret: SecretHash, at now: Timestamp) throws -> Session? {
        try lasting(secret, at: now).flatMap { $0.isOpen(at: now) ? $0 : nil }
    }

    /// The sessions of a user that have not ended, oldest first.
    package func sessions(of user: UserID, at now: Timestamp) throws -> [Session] {
        try lasting(of: user, at: now).filter { $0.isOpen(at: now) }
    }
}
