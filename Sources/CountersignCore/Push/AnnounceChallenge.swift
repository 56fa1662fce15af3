public import CountersignWire
public import Encodings

/// Announces a challenge to a device by push.
///
/// Spec: design 3.6.
public enum AnnounceChallenge {
    /// A push that is to be sent now.
    public struct Order: Sendable {
        /// Where to.
        public let registration: PushRegistration
        /// The same without the token, and since when.
        public let target: PushTarget
        /// What to send, in APNs' form: at most ``PushEnvelope/maximumPayloadSize`` bytes of JSON.
        public let payload: JSONValue
        /// When it is of no use any more.
        public let expiresAt: Timestamp
    }

    /// Makes the push for a device, as the challenge stands now.
    ///
    /// - Returns: nil when there is nothing to announce any more, or nowhere to send it.
    public static func prepare(
        _ id: ChallengeID, to enrollment: EnrollmentID, ports: Ports
    ) async throws -> Order? {
        let now = ports.time.now
        let facts: Facts? = try await ports.store.read { reader in
            guard let challenge = try reader.challenge(id), challenge.isOpen(at: now),
                let push = try reader.pushRegistration(of: enrollment)
            else { return nil }
            let pending = try reader.pendingChallenges(
                of: enrollment, user: challenge.question.user, now: now, limit: PendingChallenges.limit)
            return Facts(challenge: challenge, push: push, badge: pending.count)
        }
        guard let facts else { return nil }
        let payload = try await facts.challenge.announcement(to: enrollment, badge: facts.badge, ports: ports)
        let registration = facts.push.registration
        return Order(
            registration: registration,
            target: PushTarget(service: registration.service, app: registration.app, registeredAt: facts.push.at),
            payload: payload, expiresAt: facts.challenge.expiresAt)
    }

    private struct Facts: Sendable {
        let challenge: Challenge
        let push: RegisteredPush
        let badge: Int
    }
}

extension Challenge {
    /// The payload of a push about this challenge, for one device.
    func announcement(to enrollment: EnrollmentID, badge: Int, ports: Ports) async throws -> JSONValue {
        let shown = PushAlert(title: question.clientName.text, body: alert.text)
        let envelope = PushEnvelope(
            issuer: ports.issuer, enrollment: enrollment, challenge: id, challengeType: question.type,
            issuedAt: question.askedAt, expiresAt: expiresAt, alert: shown)
        return try await envelope.payload(
            signedBy: ports.keys.push, keyID: ports.keys.pushKeyID,
            category: PushCategory(question, methods: methods, asksNumber: numberHash != nil, showing: shown),
            badge: badge)
    }
}

extension StoreWriter {
    /// Has a challenge announced to a device.
    func announce(
        _ challenge: Challenge, to enrollment: EnrollmentID, as id: EventID, at now: Timestamp
    ) throws {
        try enqueue(
            OutboxMessage(
                id: id, content: .push(challenge.id, to: enrollment, client: challenge.question.client), dueAt: now,
                expiresAt: challenge.expiresAt))
        try note(.queued(lastFailure: nil), of: challenge.id, to: enrollment, at: now)
        wake(.outbox)
    }
}
