package import CountersignWire
package import WebAuthn

/// A passkey with which its user signs in on the pages.
///
/// It proves that somebody is at our pages, and signs no text: it never answers a challenge. Spec:
/// docs/decisions/0076-passkeys.md.
package struct RegisteredPasskey: Sendable {
    /// How many of a user may count, and how many may wait.
    package static let maximumCount = 20
    /// How long its name may be, in Unicode scalars.
    package static let longestName = 60

    /// Its id.
    package let id: PasskeyID
    /// The user.
    package let user: UserID
    /// The name that its authenticator gave it.
    package let credential: CredentialID
    /// Its public key.
    package let publicKey: CredentialPublicKey
    /// How a browser reaches the authenticator, as it said.
    package let transports: [String]
    /// Whether the key can leave its device.
    package let isBackupEligible: Bool
    /// Whether it had left it when it was used last.
    package let isBackedUp: Bool
    /// The count of its last use; 0 where the authenticator does not count.
    package let signCount: UInt32
    /// What its user calls it.
    package let name: DisplayLine
    /// When it was registered.
    package let createdAt: Timestamp
    /// From when it signs its user in.
    package let countsFrom: Timestamp
    /// Whether all clients believe it; if not, only those of the operator do.
    package let isConfirmed: Bool
    /// When it was used last; nil for never.
    package let usedAt: Timestamp?
    /// Until when a removed one makes new ones wait; nil if it is not removed.
    package let removedUntil: Timestamp?

    /// A passkey of these parts.
    package init(
        id: PasskeyID, user: UserID, credential: CredentialID, publicKey: CredentialPublicKey, transports: [String],
        isBackupEligible: Bool, isBackedUp: Bool, signCount: UInt32, name: DisplayLine, createdAt: Timestamp,
        countsFrom: Timestamp, isConfirmed: Bool, usedAt: Timestamp? = nil, removedUntil: Timestamp? = nil
    ) {
        self.id = id
        self.user = user
        self.credential = credential
        self.publicKey = publicKey
        self.transports = transports
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.signCount = signCount
        self.name = name
        self.createdAt = createdAt
        self.countsFrom = countsFrom
        self.isConfirmed = isConfirmed
        self.usedAt = usedAt
        self.removedUntil = removedUntil
    }

    /// Whether it is not removed.
    package var isPresent: Bool { removedUntil == nil }
}

/// The passkeys.
///
/// All methods throw ``StoreError``.
package protocol PasskeyStore {
    /// A passkey that is not removed; finding it locks it.
    func find(_ credential: CredentialID) throws -> RegisteredPasskey?
    /// The same by its id.
    func find(_ id: PasskeyID) throws -> RegisteredPasskey?
    /// The passkeys of a user, oldest first, also those that were removed lately.
    func passkeys(of user: UserID) throws -> [RegisteredPasskey]
    /// - Returns: false if some user has the credential already.
    func insert(_ passkey: RegisteredPasskey) throws -> Bool
    func rename(_ id: PasskeyID, _ name: DisplayLine) throws
    /// Notes that only the operator's clients believe the passkeys of a user.
    func unconfirm(of user: UserID) throws
    /// Notes that a passkey was used.
    func use(_ id: PasskeyID, signCount: UInt32, isBackedUp: Bool, at: Timestamp) throws
    /// Notes that a passkey was removed.
    func remove(_ id: PasskeyID, until: Timestamp) throws
    /// Deletes the passkeys of a user.
    func deletePasskeys(of user: UserID) throws
}
