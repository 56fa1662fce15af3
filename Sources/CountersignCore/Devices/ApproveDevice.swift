package import CountersignWire
import Encodings
import OpenPGP

/// What a new device waits for: a time, and the question to the user's other devices whose yes ends the wait before.
///
/// Spec: design 13 §1.2 and §1.6.
package struct AwaitedApproval: Equatable, Sendable {
    /// About how many new devices of a user questions may be open at once.
    static let maximumQuestions = 3

    /// The number that the new device shows, to be typed on one that the user has; nil where nobody could type it.
    package let number: EntryNumber?
    /// When the new device waits no longer.
    package let expiresAt: Timestamp

    /// What a new device is told, also when it asks again since the reply was lost; nil where it does not wait.
    init?(_ enrollment: Enrollment, _ trust: TrustState, _ hasher: KeyedHasher) {
        guard !enrollment.counts(at: trust.now) else { return nil }
        let isAsked = trust.saysYes(besides: enrollment.id)
        number = isAsked ? enrollment.approval.map { hasher.approvalNumber(of: $0) } : nil
        expiresAt = enrollment.countsFrom
    }
}

extension TrustState {
    /// The devices that can be asked whether one more may be added: those that are let in.
    func others(besides: EnrollmentID) -> [Enrollment] {
        enrollments.filter { $0.id != besides && $0.isLetIn(at: now) }
    }

    /// By what the user may say yes to one more device.
    var approvingMethods: [AnswerMethod] { isGuarded() ? [.pin, .biometric] : [.confirm] }

    /// Whether one of the devices can say yes to one more.
    fileprivate func saysYes(besides: EnrollmentID) -> Bool {
        others(besides: besides).contains { $0.canAnswer(by: approvingMethods, at: now) }
    }

    /// The question: everything that the user can compare, on the device that asks to be added.
    ///
    /// - Parameters:
    ///   - made: the new device.
    ///   - id: the question's id.
    ///   - client: through whom it comes.
    ///   - place: from where.
    ///   - nonce: 32 random bytes.
    ///   - ports: the world.
    func question(
        about made: Enrollment, _ id: ChallengeID, by client: Client, from place: ContextLine?, nonce: Nonce,
        ports: Ports
    ) throws -> Challenge {
        let labels = made.device.labels
        let lines: [(String, DisplayLine?)] = [
            ("Device", labels.name), ("Model", labels.model), ("System", labels.system), ("App", labels.app),
            ("Fingerprint", try DisplayLine("\(made.keys.primary.fingerprint)")),
        ]
        let message = try DisplayMessage("A new device wants to be added to your account. Did you start this?")
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

/// Who ends the wait of a device.
enum LetInBy: Sendable {
    /// A device of the user's, by a method.
    case device(AnswerMethod)
    /// A client or an operator, who waives it.
    case waiver
    /// Nobody: it is over.
    case time

    /// Whether the methods of the device that are no stronger than this yes count, too.
    var bringsMethods: Bool {
        switch self {
        case .device(.pin), .device(.biometric), .waiver: true
        case .device, .time: false
        }
    }
}

extension UnitOfWork {
    /// What the end of that question means for the new device.
    ///
    /// A yes lets it in, silence leaves it to wait for its time, and whatever else is no yes keeps it out.
    func concludeApproval(
        _ id: EnrollmentID, by challenge: Challenge, ended outcome: ChallengeOutcome
    ) throws {
        guard let enrollment = try enrollments.find(id), enrollment.isPresent, enrollment.approval == challenge.id,
            !enrollment.counts(at: now)
        else { return }
        switch outcome {
        case .approved(let method, _): try letIn(enrollment, by: .device(method))
        case .expired: return
        // No code lets a device in.
        case .entered, .denied, .reported, .failed:
            _ = try removeEnrollment(enrollment.id, reason: .denied)
        case .cancelled:
            _ = try removeEnrollment(enrollment.id, reason: .client)
        }
    }

    /// Lets a device in, and tells so.
    ///
    /// The caller has locked the user's row.
    func letIn(
        _ enrollment: Enrollment, by whom: LetInBy
    ) throws {
        let wasLetIn = if case .time = whom { false } else { enrollment.counts(at: now) }
        try enrollments.count(enrollment.id, from: now)
        try waits.delete(.confirm, of: enrollment.id)
        if whom.bringsMethods {
            try methods.count(of: enrollment.id, from: now)
            try methods.put(enrollment.customs.mapValues { $0.counting(from: now) }, of: enrollment.id)
            try waits.deleteAll(of: enrollment.id)
        }
        // The question is not the enrollment's any more, and its end means nothing for it.
        if let id = enrollment.approval, let question = try challenges.find(id), question.state == .pending {
            try endChallenge(question, as: .cancelled)
        }
        try raise(.enrollmentLetIn(enrollment, by: whom, didWait: !wasLetIn))
        guard !wasLetIn else { return }
        try replaceSurplus(beside: enrollment, of: try clients.find(enrollment.client)?.deviceLimit)
    }

    /// Removes the oldest devices that must go for one that has been let in.
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
    /// The oldest devices that would have to go for one more, of those that came through a client.
    func surplus(of enrollments: [Enrollment], of client: ClientID) -> ArraySlice<Enrollment> {
        let own = enrollments.filter { $0.client == client }.sorted { $0.id < $1.id }
        return own.prefix(max(0, own.count + 1 - maximum))
    }
}

extension EnrolledCustom {
    fileprivate func counting(from now: Timestamp) -> EnrolledCustom {
        EnrolledCustom(tried: tried, countsFrom: min(countsFrom, now))
    }
}
