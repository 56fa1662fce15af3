package import CountersignWire
import JOSE
package import OpenPGP

/// The enrollment of one user in one installation of an app.
///
/// It is a class because it is immutable and large, and a struct would be copied often.
package final class Enrollment: Sendable {
    /// The state of an enrollment; ``Enrollment/countsFrom`` is independent of it.
    package enum State: Hashable, Sendable {
        /// It is neither suspended nor removed; its device may still wait to be added.
        case active
        /// Its device can do nothing, except look at and remove its own enrollment, until it is resumed.
        case suspended(since: Timestamp)
        /// It is removed for ever.
        case removed(RemovalReason, at: Timestamp)
    }

    /// Its id.
    package let id: EnrollmentID
    /// The user.
    package let user: UserID
    /// The client whose ticket made it.
    package let client: ClientID
    /// Its state.
    package let state: State
    /// The credential of its device.
    package let credential: Credential
    /// The device's description of itself.
    package let device: DeviceDescription
    /// The versions of a challenge's body that the device can read.
    package let versions: [Int64]
    /// Its PIN; nil if none is set.
    package let pin: EnrolledPIN?
    /// The key that the user's biometrics unlock; nil if none is registered.
    package let biometric: EnrolledBiometric?
    /// The custom authenticators that are registered.
    package let customs: [AuthenticatorName: EnrolledCustom]
    /// The target of push notifications to the device; nil if it has registered none.
    package let push: PushTarget?
    /// When it was made.
    package let createdAt: Timestamp
    /// From when its primary key counts, and with it the enrollment.
    package let countsFrom: Timestamp
    /// Whether a method counts at once if it is set within ten minutes of enrolling.
    package let methodsCount: Bool
    /// The question to the user's other devices whether this one may be added; nil if there was none, or once the
    /// device is let in.
    package let approval: ChallengeID?
    /// When its user confirmed it; nil if it is believed in its client's group alone.
    package let confirmedAt: Timestamp?
    /// From when it is confirmed, because its user has said so by an address alone; nil for nothing of the kind.
    package let confirmingFrom: Timestamp?
    /// Whether a third party enrolled it.
    package let isByThirdParty: Bool

    /// An enrollment of these parts.
    package init(
        id: EnrollmentID, user: UserID, client: ClientID, state: State, credential: Credential,
        device: DeviceDescription, versions: [Int64] = [ChallengeBody.version], pin: EnrolledPIN? = nil,
        biometric: EnrolledBiometric? = nil, customs: [AuthenticatorName: EnrolledCustom] = [:],
        push: PushTarget? = nil, createdAt: Timestamp, countsFrom: Timestamp? = nil, methodsCount: Bool = true,
        approval: ChallengeID? = nil, confirmedAt: Timestamp? = nil, confirmingFrom: Timestamp? = nil,
        isByThirdParty: Bool = false
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
        self.confirmedAt = confirmedAt
        self.confirmingFrom = confirmingFrom
        self.isByThirdParty = isByThirdParty
    }

    /// The keys of its certificate; nil if its device has JWKs.
    package var keys: DeviceKeys? {
        switch credential {
        case .openPGP(let keys): keys
        case .jwk: nil
        }
    }

    /// The keys of a device that has JWKs; nil if it has a certificate.
    package var jwks: DeviceJWKs? {
        switch credential {
        case .openPGP: nil
        case .jwk(let keys): keys
        }
    }

    /// What names its device's key to people.
    package var fingerprint: Fingerprint { credential.fingerprint }

    /// Whether its device signs everything that it shows.
    ///
    /// Only such a device answers what must be read to be approved, and is asked about other devices.
    /// Spec: docs/protocol/jwk-devices.md, *What such a device may answer*.
    package var signsReceipts: Bool { credential.assurance == .receipt }

    /// Whether it is not removed.
    var isPresent: Bool {
        switch state {
        case .active, .suspended: true
        case .removed: false
        }
    }

    /// The key of the certificate that signs an answer by a method; nil if the method is not set, or there is no
    /// certificate.
    func key(of method: AnswerMethod) -> CertifiedKey? {
        switch method {
        case .confirm: keys?.primary
        case .pin: pin?.key
        case .biometric: biometric?.key
        case .custom: keys?.primary
        }
    }

    /// The name of the key that signs an answer by a method, whatever the credential is; nil if the method is not set.
    func keyName(of method: AnswerMethod) -> String? {
        switch credential {
        case .openPGP: key(of: method).map { "\($0.fingerprint)" }
        case .jwk(let keys):
            DeviceJWKs.Role.allCases.first { $0.method == method }.flatMap(keys.key)?.thumbprint
        }
    }

    /// The methods by which it can approve at a time: those that count, without a locked PIN.
    package func usableMethods(at now: Timestamp) -> Set<AnswerMethod> {
        guard isLetIn(at: now) else { return [] }
        return Set(([.confirm] + methods).filter { counts($0, at: now) && ($0 != .pin || pin?.lockedAt == nil) })
    }

    /// Whether its answers prove what a challenge type requires.
    ///
    /// A number that is typed, and what AAL2 asks, need a signature of everything that is shown, whatever the type says.
    ///
    /// An AAL2 type accepts no device that keeps its keys in software. Such keys can be copied, and whoever has a copy
    /// and a receipt can try one PIN after another without the server.
    /// Spec: docs/security/pin.md, *Attackers*; NIST SP 800-63B-4 §3.2.13.
    func satisfies(_ type: ChallengeType) -> Bool {
        let least: Assurance = type.isAAL2 || type.numberEntry ? .receipt : type.assurance
        return credential.assurance >= least && (!type.isAAL2 || device.storage == .enclave)
    }

    /// Whether it can approve by one of these methods at a time.
    func canAnswer(by methods: [AnswerMethod], at now: Timestamp) -> Bool {
        !usableMethods(at: now).isDisjoint(with: methods)
    }
}

extension Enrollment: Equatable {
    /// Whether two values are the same enrollment in the same state; keys are compared by their fingerprints.
    package static func == (one: Enrollment, other: Enrollment) -> Bool {
        one === other
            || one.id == other.id && one.user == other.user && one.client == other.client && one.state == other.state
                && one.fingerprint == other.fingerprint && one.device == other.device
                && one.versions == other.versions && one.pin == other.pin && one.biometric == other.biometric
                && one.customs == other.customs && one.push == other.push && one.createdAt == other.createdAt
                && one.countsFrom == other.countsFrom && one.methodsCount == other.methodsCount
                && one.approval == other.approval && one.confirmedAt == other.confirmedAt
                && one.confirmingFrom == other.confirmingFrom && one.isByThirdParty == other.isByThirdParty
    }
}

/// The key that a user's biometrics unlock.
package struct EnrolledBiometric: Equatable, Sendable {
    /// The public key; nil if the device has JWKs, among which it is.
    package let key: CertifiedKey?
    /// From when it counts.
    package let countsFrom: Timestamp

    /// A biometric of these parts.
    package init(key: CertifiedKey?, countsFrom: Timestamp) {
        self.key = key
        self.countsFrom = countsFrom
    }

    /// Whether two values have the same key, by its fingerprint, and count from the same time.
    package static func == (one: EnrolledBiometric, other: EnrolledBiometric) -> Bool {
        one.key?.fingerprint == other.key?.fingerprint && one.countsFrom == other.countsFrom
    }
}

/// A custom authenticator that is registered.
package struct EnrolledCustom: Hashable, Sendable {
    /// How many tries there were since the last success, including those that are under way.
    package var tried: Int
    /// When the last try began; nil before the first.
    package var triedAt: Timestamp?
    /// From when it counts.
    package var countsFrom: Timestamp

    /// An authenticator of these parts.
    package init(tried: Int = 0, triedAt: Timestamp? = nil, countsFrom: Timestamp) {
        self.tried = tried
        self.triedAt = triedAt
        self.countsFrom = countsFrom
    }
}

/// The PIN of an enrollment, of which the server knows only the public key.
package struct EnrolledPIN: Equatable, Sendable {
    /// The public key whose private half is derived from the PIN.
    package let key: CertifiedKey
    /// How many wrong PINs were typed since the last right one.
    package let wrongCount: Int
    /// Since when it is locked; nil if it is not.
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

    /// Whether two values have the same key, by its fingerprint, and are otherwise equal.
    package static func == (one: EnrolledPIN, other: EnrolledPIN) -> Bool {
        one.key.fingerprint == other.key.fingerprint && one.wrongCount == other.wrongCount
            && one.lockedAt == other.lockedAt && one.countsFrom == other.countsFrom
    }
}

/// A ticket: the authority to enroll one device, once.
///
/// A device that is enrolled already can also use it, once, to authorize a change of its methods.
package struct Ticket: Sendable {
    /// How long a ticket can be used.
    ///
    /// Spec: NIST SP 800-63B-4 §4.1.2.2.
    package static let lifetime = Seconds.minutes(10)

    /// The scope of an access token that is exchanged for a ticket.
    ///
    /// Spec: docs/protocol/enrollment.md, *An invitation for an access token*.
    package static let scope = "enroll"

    /// The hash of its secret.
    package let hash: SecretHash
    /// The user whose device it enrolls.
    package let user: UserID
    /// The client that made it, or got the tokens that it follows from.
    package let client: ClientID
    /// The tokens that it follows from; nil if the client made it by its own right.
    package let family: TokenFamilyID?
    /// The id of the future enrollment.
    package let enrollment: EnrollmentID
    /// Whether the device or the method that it authorizes counts at once, instead of waiting.
    package let waivesApproval: Bool
    /// When it expires.
    package let expiresAt: Timestamp
    /// When it was used; nil if it was not.
    package let spentAt: Timestamp?

    /// A ticket of these parts.
    package init(
        hash: SecretHash, user: UserID, client: ClientID, family: TokenFamilyID? = nil, enrollment: EnrollmentID,
        waivesApproval: Bool, expiresAt: Timestamp, spentAt: Timestamp? = nil
    ) {
        self.hash = hash
        self.user = user
        self.client = client
        self.family = family
        self.enrollment = enrollment
        self.waivesApproval = waivesApproval
        self.expiresAt = expiresAt
        self.spentAt = spentAt
    }
}
