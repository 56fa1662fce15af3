public import CountersignWire
import Encodings
import OpenPGP

/// What is asked of a user's devices before a further one can say yes.
///
/// One question is the approval, the notice and the way to undo: it lives as long as the new device must wait. Spec:
/// design 3.5.
public struct AwaitedApproval: Sendable {
    /// How long a new device waits that no other one approves, in seconds, where the client says nothing.
    public static let standardCoolingOff: Int64 = 86_400
    /// How long a client can have it wait, in seconds.
    public static let coolingOffs: ClosedRange<Int64> = 60...604_800
    /// How many new devices of a user may wait at once.
    static let maximumWaiting = 3
    /// How often a client may have a user asked for that within ``window``.
    static let maximumAsks = 5
    /// The window in which those count, in seconds.
    static let window: Int64 = 3600

    /// The question.
    public let challenge: ChallengeID
    /// The number that the new device shows, to be typed on one that the user has.
    public let number: EntryNumber
    /// When it ends, and the new device waits no longer.
    public let expiresAt: Timestamp
}

extension AwaitedApproval {
    /// What a new device is told of it, also when it asks again since the reply was lost.
    init(_ wait: Enrollment.Wait, _ hasher: KeyedHasher) {
        challenge = wait.challenge
        number = hasher.approvalNumber(of: wait.challenge)
        expiresAt = wait.until
    }

    /// The question: everything that the user can compare, on the device that asks to be added.
    ///
    /// - Parameters:
    ///   - made: the new device.
    ///   - others: the user's devices.
    ///   - client: through whom it comes.
    ///   - place: from where.
    ///   - nonce: 32 random bytes.
    ///   - ports: the world.
    func question(
        about made: Enrollment, to others: [Enrollment], by client: Client, from place: ContextLine?, nonce: Nonce,
        ports: Ports
    ) throws -> Challenge {
        let device = made.device
        let lines: [(String, DisplayLine?)] = [
            ("Device", device.name), ("Model", device.model), ("System", device.system), ("App", device.app),
            ("Fingerprint", try DisplayLine("\(made.keys.primary.fingerprint)")),
        ]
        let message = try DisplayMessage("A new device wants to be added to your account. Did you start this?")
        let question = Question(
            challenge: challenge, nonce: nonce, issuer: ports.issuer, client: client.id, clientName: client.name,
            type: .newDevice, context: place?.line, askedAt: made.createdAt,
            details: try lines.compactMap { label, value in try value.map { try Detail(label: label, value: $0.text) }
            },
            signingData: nil, message: message)
        // Spec: design 3.1, *Changing methods*: once a PIN exists, nothing is added without it.
        let methods: [Method] = others.contains { $0.pin != nil } ? [.pin] : [.confirm]
        return Challenge(
            question: question, user: made.user, alert: message, methods: methods,
            numberHash: ports.hasher.hash(of: number, challenge: challenge), expiresAt: expiresAt, callbackURI: nil,
            clientState: nil, locale: nil, newDevice: made.id, state: .pending)
    }
}

extension StoreWriter {
    /// What the end of that question means for the new device.
    ///
    /// Silence lets it in, once the time is over; whatever else is no yes keeps it out.
    func conclude(
        _ id: EnrollmentID, by challenge: Challenge, ended outcome: ChallengeOutcome, at now: Timestamp,
        _ events: EventIDs
    ) throws {
        guard let enrollment = try enrollment(id), enrollment.state == .active,
            enrollment.wait?.challenge == challenge.id
        else { return }
        switch outcome {
        case .approved, .expired:
            try endWait(of: id)
            try append(
                .enrollmentApproved, ["by": outcome.decidedBy.map { .string("\($0)") } ?? "time"], of: enrollment,
                at: now, events)
            try tellClients(.approved, of: enrollment, at: now, events)
            wake(.enrollment(id))
            try replaceSurplus(beside: enrollment, of: try client(enrollment.client)?.deviceLimit, at: now, events)
        // No code lets a device in.
        case .entered, .denied, .reported, .failed:
            _ = try removeEnrollment(enrollment, reason: .denied, by: nil, at: now, events)
        case .cancelled:
            _ = try removeEnrollment(
                enrollment, reason: .client, by: challenge.question.client, at: now, events)
        }
    }

    /// Removes the oldest devices that must go for one that has been let in.
    func replaceSurplus(
        beside made: Enrollment, of limit: DeviceLimit?, at now: Timestamp, _ events: EventIDs
    ) throws {
        guard let limit, limit.replacesOldest else { return }
        let others = try activeEnrollments(of: made.user).filter { $0.id != made.id }
        for old in limit.surplus(of: others, of: made.client) {
            _ = try removeEnrollment(old, reason: .replaced, by: nil, at: now, events)
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
