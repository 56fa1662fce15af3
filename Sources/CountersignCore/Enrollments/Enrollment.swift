public import CountersignWire
public import OpenPGP

/// One user on one app installation.
///
/// A class, because it never changes, is large, and is handed on many times.
public final class Enrollment: Sendable {
    /// Whether it can be asked.
    public enum State: Hashable, Sendable {
        /// It can.
        case active
        /// It is over.
        case removed(RemovalReason, at: Timestamp)
    }

    /// What it waits for before it can say yes.
    public struct Wait: Hashable, Sendable {
        /// The question to the user's other devices whether this one may be added.
        public let challenge: ChallengeID
        /// When that ends.
        public let until: Timestamp

        /// A wait for the end of a question at a time.
        public init(for challenge: ChallengeID, until: Timestamp) {
            self.challenge = challenge
            self.until = until
        }
    }

    /// Its id.
    public let id: EnrollmentID
    /// Whose it is.
    public let user: UserID
    /// Through whose ticket it came.
    public let client: ClientID
    /// Whether it can be asked.
    public let state: State
    /// What it proves itself with.
    public let credential: Credential
    /// What the device says of itself.
    public let device: DeviceDescription
    /// Its PIN; nil while none is set.
    public let pin: EnrolledPIN?
    /// The key that the user's biometrics unlock; nil while none is registered.
    public let biometric: CertifiedKey?
    /// The custom authenticators that are registered, each with how often in a row it was tried for nothing.
    public let customs: [AuthenticatorName: Int]
    /// Where it is reached by push notifications; nil when the device asks by itself.
    public let push: PushTarget?
    /// When it was made.
    public let createdAt: Timestamp
    /// What it waits for before it can say yes; nil when it need not.
    public let wait: Wait?

    /// An enrollment of these parts.
    public init(
        id: EnrollmentID, user: UserID, client: ClientID, state: State, credential: Credential,
        device: DeviceDescription, pin: EnrolledPIN? = nil, biometric: CertifiedKey? = nil,
        customs: [AuthenticatorName: Int] = [:], push: PushTarget? = nil, createdAt: Timestamp, wait: Wait? = nil
    ) {
        self.id = id
        self.user = user
        self.client = client
        self.state = state
        self.credential = credential
        self.device = device
        self.pin = pin
        self.biometric = biometric
        self.customs = customs
        self.push = push
        self.createdAt = createdAt
        self.wait = wait
    }

    /// The keys of its certificate.
    public var keys: DeviceKeys {
        switch credential {
        case .certificate(let keys): keys
        }
    }

    /// The key that signs an answer by a method; nil where there is none.
    func key(of method: Method) -> CertifiedKey? {
        switch method {
        case .confirm: keys.primary
        case .pin: pin?.key
        case .biometric: biometric
        case .custom: keys.primary
        }
    }

    /// By which methods it can say yes now.
    public var usableMethods: Set<Method> {
        guard wait == nil else { return [] }
        let proved = Method.standard.filter { key(of: $0) != nil && ($0 != .pin || pin?.lockedAt == nil) }
        return Set(proved + customs.keys.map(Method.custom))
    }

    /// Whether its answers prove what a type wants.
    ///
    /// A vault in software can be copied, and a PIN then be guessed at with a receipt: no AAL2 type asks such a device.
    /// Spec: design 3.1, *PIN subkey*; NIST SP 800-63B-4 §3.2.13.
    func satisfies(_ type: ChallengeType) -> Bool {
        credential.assurance >= type.assurance && (!type.isAAL2 || device.storage == .enclave)
    }

    /// Whether it can say yes by one of some methods now.
    func canAnswer(by methods: [Method]) -> Bool { state == .active && !usableMethods.isDisjoint(with: methods) }
}

/// The PIN of an enrollment, as far as a server knows it.
public struct EnrolledPIN: Sendable {
    /// The key that is derived from it.
    public let key: CertifiedKey
    /// How many wrong ones came since the last right one.
    public let wrongCount: Int
    /// Since when it is locked; nil while it is not.
    public let lockedAt: Timestamp?

    /// A PIN of these parts.
    public init(key: CertifiedKey, wrongCount: Int, lockedAt: Timestamp?) {
        self.key = key
        self.wrongCount = wrongCount
        self.lockedAt = lockedAt
    }
}

/// The authority to enroll one device, once.
public struct Ticket: Sendable {
    /// How long a ticket lives, in seconds.
    ///
    /// Spec: NIST SP 800-63B-4 §4.1.2.2.
    public static let lifetime: Int64 = 600

    /// The hash of the secret.
    public let hash: SecretHash
    /// Whose device it enrolls.
    public let user: UserID
    /// Who had it made.
    public let client: ClientID
    /// The id the enrollment will have.
    public let enrollment: EnrollmentID
    /// Whether a further device needs no approval.
    public let waivesApproval: Bool
    /// When it stops working.
    public let expiresAt: Timestamp
    /// When it was used; nil while it was not.
    public let spentAt: Timestamp?

    /// A ticket of these parts.
    public init(
        hash: SecretHash, user: UserID, client: ClientID, enrollment: EnrollmentID, waivesApproval: Bool,
        expiresAt: Timestamp, spentAt: Timestamp? = nil
    ) {
        self.hash = hash
        self.user = user
        self.client = client
        self.enrollment = enrollment
        self.waivesApproval = waivesApproval
        self.expiresAt = expiresAt
        self.spentAt = spentAt
    }
}
