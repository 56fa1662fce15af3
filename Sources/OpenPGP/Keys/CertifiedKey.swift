import Encodings

/// A key that its certificate vouches for, with what it may do and when.
public struct CertifiedKey: Sendable {
    /// What the certificate's holder states about a key, until the next statement.
    public struct Statement: Hashable, Sendable {
        /// From when on it holds.
        public let since: UnixSeconds
        /// What the key may be used for.
        public let flags: KeyFlags
        /// Further statements about it.
        public let notations: [Notation]
        /// From when on the key is no longer good; nil for never.
        public let expiresAt: UnixSeconds?
    }

    /// The key.
    public let publicKey: PublicKey
    /// What was ever stated, the oldest first.
    let earlier: [Statement]
    /// What was stated last.
    public let statement: Statement
    /// From when on it is revoked, 0 if nothing it ever did counts; nil if it is not revoked.
    public let revokedAt: UnixSeconds?

    /// The key's fingerprint.
    public var fingerprint: Fingerprint { publicKey.fingerprint }
    /// What the key may be used for, by the last statement.
    public var flags: KeyFlags { statement.flags }
    /// Statements of the certificate's holder about it, the last that were made.
    public var notations: [Notation] { statement.notations }
    /// From when on it is no longer good by the last statement; nil for never.
    public var expiresAt: UnixSeconds? { statement.expiresAt }

    /// From when on its certificate says anything about it.
    public var firstStatedAt: UnixSeconds { (earlier.first ?? statement).since }

    /// A key whose certificate was checked before and that was kept since in a place that is trusted.
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

    /// What was stated at a time.
    ///
    /// Later statements do not change what held then: a key that is renewed after it expired was expired in between.
    /// The first statement holds from the key's making on.
    public func statement(at time: UnixSeconds) -> Statement {
        if statement.since <= time { return statement }
        return earlier.last { $0.since <= time } ?? earlier.first ?? statement
    }

    /// Throws unless the key may be used for all of `flags` at a time.
    public func check(_ flags: KeyFlags, at time: UnixSeconds) throws(OpenPGPError) {
        let statement = statement(at: time)
        guard statement.flags.isSuperset(of: flags) else { throw .wrongKeyFlags }
        if let revokedAt, time >= revokedAt { throw .keyRevoked }
        if let expiresAt = statement.expiresAt, time >= expiresAt { throw .keyExpired }
    }
}
