package import CountersignWire
import Encodings
import OpenPGP

/// The wait of a new device: it ends at a time, or earlier if the user approves the device on another one.
///
/// Spec: docs/protocol/enrollment.md, *Waiting for approval*.
package struct AwaitedApproval: Equatable, Sendable {
    /// How many questions about new devices of one user may be open at once.
    static let maximumQuestions = 3

    /// The number that the new device shows and that the user types on another device; nil if no other device can
    /// approve the new one.
    package let number: EntryNumber?
    /// When the wait ends without an approval.
    package let expiresAt: Timestamp

    /// The wait as the new device is told of it; nil if the device does not wait.
    ///
    /// A repeated enrollment request gets the same number as the first.
    init?(_ enrollment: Enrollment, _ trust: TrustState, _ hasher: KeyedHasher) {
        guard !enrollment.counts(at: trust.now) else { return nil }
        let isAsked = trust.saysYes(besides: enrollment.id)
        number = isAsked ? enrollment.approval.map { hasher.approvalNumber(of: $0) } : nil
        expiresAt = enrollment.countsFrom
    }
}

extension TrustState {
    /// The user's devices that are asked whether a new one may be added: those that are let in, and sign what they show.
    func others(besides: EnrollmentID) -> [Enrollment] {
        enrollments.filter { $0.id != besides && $0.isLetIn(at: now) && $0.signsReceipts }
    }

    /// The methods by which the user can approve a new device.
    var approvingMethods: [AnswerMethod] { isGuarded() ? [.pin, .biometric] : [.confirm] }

    /// Whether one of the user's other devices can approve a new one.
    fileprivate func saysYes(besides: EnrollmentID) -> Bool {
        others(besides: besides).contains { $0.canAnswer(by: approvingMethods, at: now) }
    }

    /// The question whether a new device may be added, with all details that the user can compare with that device.
    ///
    /// - Parameters:
    ///   - made: the new device.
    ///   - id: the id of the question.
    ///   - client: the client whose ticket the device used.
    ///   - place: the place that the request came from, as the user's devices show it; nil if it is not known.
    ///   - nonce: 32 random bytes.
    ///   - ports: the external dependencies.
    func question(
        about made: Enrollment, _ id: ChallengeID, by client: Client, from place: ContextLine?, nonce: Nonce,
        ports: Ports
    ) throws -> Challenge {
        let labels = made.device.labels
        let lines: [(String, DisplayLine?)] = [
            ("Device", labels.name), ("Model", labels.model), ("System", labels.system), ("App", labels.app),
            ("Fingerprint", try DisplayLine("\(made.fingerprint)")),
        ]
        // What the user says yes to may count for all clients.
        let message = try DisplayMessage(
            client.isThirdParty
                ? "A new device wants to be added to your account, for everything that you use it for. Did you start this?"
                : "A new device wants to be added to your account. Did you start this?")
        let question = Question(
            challenge: id, nonce: nonce, issuer: ports.issuer, client: client.id, clientName: client.name,
            type: .newDevice, context: place?.line, askedAt: made.createdAt,
            details: try lines.compactMap { label, value in try value.map { try Detail(label: label, value: $0.text) }
            },
            signingData: nil, message: message)
        return Challenge(
            question: question, user: made.user, purpose: .newDevice(made.id), alert: message,
            methods: approvingMethods,
            numberHash: ports.hasher.hash(of: ports.hasher.approvalNumber(of: id), challenge: id),
            expiresAt: made.countsFrom, callbackURI: nil, clientState: nil, locale: nil, state: .pending)
    }
}

/// What ends the wait of a device.
enum LetInBy: Sendable {
    /// An approval on another device of the user, by this method.
    case device(AnswerMethod)
    /// A waiver of a client or of the operator.
    case waiver
    /// The wait is over.
    case time

    /// Whether the methods of the new device count from then on, too.
    ///
    /// They do after an approval by PIN or biometric and after a waiver. Otherwise each method's own wait goes on.
    var bringsMethods: Bool {
        switch self {
        case .device(.pin), .device(.biometric), .waiver: true
        case .device, .time: false
        }
    }
}

extension UnitOfWork {
    /// Applies the end of the question about a new device to that device.
    ///
    /// An approval lets the device in, and may confirm it. If the question expires, the device waits on until its time.
    /// Every other end removes it.
    func concludeApproval(
        _ id: EnrollmentID, by challenge: Challenge, ended outcome: ChallengeOutcome
    ) throws {
        guard let enrollment = try enrollments.find(id), enrollment.isPresent, enrollment.approval == challenge.id,
            !enrollment.counts(at: now)
        else { return }
        switch outcome {
        case .approved(let method, let device):
            let isConfirmed = try confirms(device, isTap: method == .confirm, of: enrollment.user)
            try letIn(enrollment, by: .device(method))
            if isConfirmed { try confirm(enrollment) }
        case .expired: return
        // A code that the user types never lets a device in.
        case .entered, .denied, .reported, .failed:
            _ = try removeEnrollment(enrollment.id, reason: .denied)
        case .cancelled:
            _ = try removeEnrollment(enrollment.id, reason: .client)
        }
    }

    /// Lets a device in.
    ///
    /// The open question about the device is cancelled, and older devices are removed if the client's limit says so.
    /// The caller has locked the user's row.
    ///
    /// - Parameters:
    ///   - enrollment: the device.
    ///   - whom: what ends its wait.
    func letIn(
        _ enrollment: Enrollment, by whom: LetInBy
    ) throws {
        let wasLetIn = if case .time = whom { false } else { enrollment.counts(at: now) }
        try enrollments.count(enrollment.id, from: now)
        try waits.delete(.confirm, of: enrollment.id)
        try letInMethods(of: enrollment, by: whom)
        // The enrollment does not refer to the question any more, so the end of the question does not remove it.
        if let id = enrollment.approval, let question = try challenges.find(id), question.state == .pending {
            try endChallenge(question, as: .cancelled)
        }
        try raise(.enrollmentLetIn(enrollment, by: whom, didWait: !wasLetIn))
        guard !wasLetIn else { return }
        try replaceSurplus(beside: enrollment, of: try clients.find(enrollment.client)?.deviceLimit)
    }

    /// Ends the wait of the methods of a device that is let in, if what lets it in is as strong as they are.
    private func letInMethods(of enrollment: Enrollment, by whom: LetInBy) throws {
        // check: WhoCountsTests.noStronger
        guard whom.bringsMethods else { return }
        try methods.count(of: enrollment.id, from: now)
        try methods.put(enrollment.customs.mapValues { $0.counting(from: now) }, of: enrollment.id)
        try waits.deleteAll(of: enrollment.id)
    }

    /// Removes the user's oldest devices that exceed a limit, after a new one was let in.
    ///
    /// - Parameters:
    ///   - made: the new device.
    ///   - limit: the limit of the client; nil if it has none.
    func replaceSurplus(
        beside made: Enrollment, of limit: DeviceLimit?
    ) throws {
        guard let limit, limit.replacesOldest else { return }
        let others = try enrollments.active(of: made.user).filter { $0.id != made.id && $0.counts(at: now) }
        for old in limit.surplus(of: others, of: made.client) {
            _ = try removeEnrollment(old.id, reason: .replaced)
        }
    }
}

extension DeviceLimit {
    /// The oldest enrollments that must be removed so that one more is within the limit.
    ///
    /// - Parameters:
    ///   - enrollments: enrollments of one user.
    ///   - client: the client; the limit counts only enrollments made with its tickets.
    func surplus(of enrollments: [Enrollment], of client: ClientID) -> ArraySlice<Enrollment> {
        let own = enrollments.filter { $0.client == client }.sorted { $0.id < $1.id }
        return own.prefix(max(0, own.count + 1 - maximum))
    }
}

extension EnrolledCustom {
    fileprivate func counting(from now: Timestamp) -> EnrolledCustom {
        EnrolledCustom(tried: tried, triedAt: triedAt, countsFrom: min(countsFrom, now))
    }
}
