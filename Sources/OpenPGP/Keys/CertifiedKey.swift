import Encodings

/// A key of a certificate, with its permitted uses and the times at which they apply.
public struct CertifiedKey: Sendable {
    /// A statement of the certificate's holder about a key; it applies until the next statement.
    public struct Statement: Hashable, Sendable {
        /// When it begins to apply.
        public let since: UnixSeconds
        /// The permitted uses of the key.
        public let flags: KeyFlags
        /// Further statements about the key.
        public let notations: [Notation]
        /// When the key expires; nil for never.
        public let expiresAt: UnixSeconds?
    }

    /// The key.
    public let publicKey: PublicKey
    /// The earlier statements, oldest first.
    let earlier: [Statement]
    /// The last statement.
    public let statement: Statement
    /// When the key was revoked, 0 if none of its signatures counts; nil if it is not revoked.
    public let revokedAt: UnixSeconds?

    /// The key's fingerprint.
    public var fingerprint: Fingerprint { publicKey.fingerprint }
    /// The permitted uses of the key, by the last statement.
    public var flags: KeyFlags { statement.flags }
    /// The holder's notations about the key, from the last statement.
    public var notations: [Notation] { statement.notations }
    /// When the key expires, by the last statement; nil for never.
    public var expiresAt: UnixSeconds? { statement.expiresAt }

    /// When the certificate's statements about it begin.
    public var firstStatedAt: UnixSeconds { (earlier.first ?? statement).since }

    /// A key whose certificate was verified before, and that was stored since in a trusted place.
    public init(
        previouslyCertified publicKey: PublicKey, flags: KeyFlags, notations: [Notation] = [],
        expiresAt: UnixSeconds? = nil, revokedAt: UnixSeconds? = nil
    ) {
        self.publicKey = publicKey
        self.revokedAt = revokedAt
        earlier = []
        statement = Statement(since: 0, flags: flags, notations: notations, expiresAt: expiresAt)
    }

    init(_ publicKey: PublicKey, earlier: [Statement], statement: Statement, revokedAt: UnixSeconds?) {
        self.publicKey = publicKey
        self.earlier = earlier
        self.statement = statement
        self.revokedAt = revokedAt
    }

    /// The statement that applied at a given time.
    ///
    /// Later statements do not change it: a key that was renewed after its expiry was expired in between. The first
    /// statement applies from the key's making on.
    public func statement(at time: UnixSeconds) -> Statement {
        if statement.since <= time { return statement }
        return earlier.last { $0.since <= time } ?? earlier.first ?? statement
    }

    /// Throws unless the key may be used for all of `flags` at a given time.
    public func check(_ flags: KeyFlags, at time: UnixSeconds) throws(OpenPGPError) {
        let statement = statement(at: time)
        guard statement.flags.isSuperset(of: flags) else { throw .wrongKeyFlags }
        if let revokedAt, time >= revokedAt { throw .keyRevoked }
        if let expiresAt = statement.expiresAt, time >= expiresAt { throw .keyExpired }
    }
}
