package import CountersignWire
package import OpenPGP

/// One user on one app installation.
///
/// A class, because it never changes, is large, and is handed on many times.
package final class Enrollment: Sendable {
    /// Whether it is there; from when it counts is another matter.
    package enum State: Hashable, Sendable {
        /// It is.
        case active
        /// It is, and does nothing until it is resumed.
        case suspended(since: Timestamp)
        /// It is over.
        case removed(RemovalReason, at: Timestamp)
    }

    /// Its id.
    package let id: EnrollmentID
    /// Whose it is.
    package let user: UserID
    /// Through whose ticket it came.
    package let client: ClientID
    /// Whether it is there.
    package let state: State
    /// What it proves itself with.
    package let credential: Credential
    /// What the device says of itself.
    package let device: DeviceDescription
    /// The versions of a challenge's body that it reads.
    package let versions: [Int64]
    /// Its PIN; nil while none is set.
    package let pin: EnrolledPIN?
    /// The key that the user's biometrics unlock; nil while none is registered.
    package let biometric: EnrolledBiometric?
    /// The custom authenticators that are registered.
    package let customs: [AuthenticatorName: EnrolledCustom]
    /// Where it is reached by push notifications; nil when the device asks by itself.
    package let push: PushTarget?
    /// When it was made.
    package let createdAt: Timestamp
    /// From when its device key counts, and with it the enrollment.
    package let countsFrom: Timestamp
    /// Whether methods count at once that are set within ten minutes of enrolling.
    package let methodsCount: Bool
    /// The question to the user's other devices whether this one may be added; nil where none is open.
    package let approval: ChallengeID?

    /// An enrollment of these parts.
    package init(
        id: EnrollmentID, user: UserID, client: ClientID, state: State, credential: Credential,
        device: DeviceDescription, versions: [Int64] = [ChallengeBody.version], pin: EnrolledPIN? = nil,
        biometric: EnrolledBiometric? = nil, customs: [AuthenticatorName: EnrolledCustom] = [:],
        push: PushTarget? = nil, createdAt: Timestamp, countsFrom: Timestamp? = nil, methodsCount: Bool = true,
        approval: ChallengeID? = nil
    ) {
        self.id = id
        self.user = user
        self.client = client
        self.state = state
        self.credential = credential
        self.device = device
        self.versions = versions
        self.pin = pin
        self.biometric = biometric
        self.customs = customs
        self.push = push
        self.createdAt = createdAt
        self.countsFrom = countsFrom ?? createdAt
        self.methodsCount = methodsCount
        self.approval = approval
    }

    /// The keys of its certificate.
    package var keys: DeviceKeys {
        switch credential {
        case .openPGP(let keys): keys
        }
    }

    /// Whether it is not removed.
    var isPresent: Bool {
        switch state {
        case .active, .suspended: true
        case .removed: false
        }
    }

    /// The key that signs an answer by a method; nil where there is none.
    func key(of method: AnswerMethod) -> CertifiedKey? {
        switch method {
        case .confirm: keys.primary
        case .pin: pin?.key
        case .biometric: biometric?.key
        case .custom: keys.primary
        }
    }

    /// By which methods it can say yes at a time.
    package func usableMethods(at now: Timestamp) -> Set<AnswerMethod> {
        guard isLetIn(at: now) else { return [] }
        return Set(([.confirm] + methods).filter { counts($0, at: now) && ($0 != .pin || pin?.lockedAt == nil) })
    }

    /// Whether its answers prove what a type wants.
    ///
    /// A vault in software can be copied, and a PIN then be guessed at with a receipt: no AAL2 type asks such a device.
    /// Spec: design 3.1, *PIN subkey*; NIST SP 800-63B-4 §3.2.13.
    func satisfies(_ type: ChallengeType) -> Bool {
        credential.assurance >= type.assurance && (!type.isAAL2 || device.storage == .enclave)
    }

    /// Whether it can say yes by one of some methods at a time.
    func canAnswer(by methods: [AnswerMethod], at now: Timestamp) -> Bool {
        !usableMethods(at: now).isDisjoint(with: methods)
    }
}

extension Enrollment: Equatable {
    /// Whether two are one enrollment as it was at one time.
    package static func == (one: Enrollment, other: Enrollment) -> Bool {
        one === other
            || one.id == other.id && one.user == other.user && one.client == other.client && one.state == other.state
                && one.keys.primary.fingerprint == other.keys.primary.fingerprint && one.device == other.device
                && one.versions == other.versions && one.pin == other.pin && one.biometric == other.biometric
                && one.customs == other.customs && one.push == other.push && one.createdAt == other.createdAt
                && one.countsFrom == other.countsFrom && one.methodsCount == other.methodsCount
                && one.approval == other.approval
    }
}

/// The key that a user's biometrics unlock, as far as a server knows it.
package struct EnrolledBiometric: Equatable, Sendable {
    /// The key.
    package let key: CertifiedKey
    /// From when it counts.
    package let countsFrom: Timestamp

    /// A biometric of these parts.
    package init(key: CertifiedKey, countsFrom: Timestamp) {
        self.key = key
        self.countsFrom = countsFrom
    }

    /// Whether two are one key that counts from one time.
    package static func == (one: EnrolledBiometric, other: EnrolledBiometric) -> Bool {
        one.key.fingerprint == other.key.fingerprint && one.countsFrom == other.countsFrom
    }
}

/// A custom authenticator that is registered.
package struct EnrolledCustom: Hashable, Sendable {
    /// How often in a row it was tried for nothing.
    package var tried: Int
    /// From when it counts.
    package var countsFrom: Timestamp

    /// An authenticator of these parts.
    package init(tried: Int = 0, countsFrom: Timestamp) {
        self.tried = tried
        self.countsFrom = countsFrom
    }
}

/// The PIN of an enrollment, as far as a server knows it.
package struct EnrolledPIN: Equatable, Sendable {
    /// The key that is derived from it.
    package let key: CertifiedKey
    /// How many wrong ones came since the last right one.
    package let wrongCount: Int
    /// Since when it is locked; nil while it is not.
    package let lockedAt: Timestamp?
    /// From when it counts.
    package let countsFrom: Timestamp

    /// A PIN of these parts.
    package init(key: CertifiedKey, wrongCount: Int, lockedAt: Timestamp?, countsFrom: Timestamp) {
        self.key = key
        self.wrongCount = wrongCount
        self.lockedAt = lockedAt
        self.countsFrom = countsFrom
    }

    /// Whether two are one key, after as many wrong tries.
    package static func == (one: EnrolledPIN, other: EnrolledPIN) -> Bool {
        one.key.fingerprint == other.key.fingerprint && one.wrongCount == other.wrongCount
            && one.lockedAt == other.lockedAt && one.countsFrom == other.countsFrom
    }
}

/// The authority to enroll one device, once.
package struct Ticket: Sendable {
    /// How long a ticket lives.
    ///
    /// Spec: NIST SP 800-63B-4 §4.1.2.2.
    package static let lifetime = Seconds.minutes(10)

    /// The hash of the secret.
    package let hash: SecretHash
    /// Whose device it enrolls.
    package let user: UserID
    /// Who had it made.
    package let client: ClientID
    /// The id the enrollment will have.
    package let enrollment: EnrollmentID
    /// Whether a further device needs no approval.
    package let waivesApproval: Bool
    /// When it stops working.
    package let expiresAt: Timestamp
    /// When it was used; nil while it was not.
    package let spentAt: Timestamp?

    /// A ticket of these parts.
    package init(
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
