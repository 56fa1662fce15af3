package import CountersignWire
import Encodings

/// Announces a challenge to a device by push.
///
/// Spec: design 3.6.
package enum AnnounceChallenge {
    /// How long it is tried to take a notification back.
    static let withdrawalLifetime = Seconds.hours(1)

    /// Which challenge, and which device it is announced to.
    package struct Subject: Sendable {
        /// The challenge.
        package let challenge: ChallengeID
        /// The device.
        package let enrollment: EnrollmentID

        /// A challenge and a device.
        package init(_ challenge: ChallengeID, to enrollment: EnrollmentID) {
            self.challenge = challenge
            self.enrollment = enrollment
        }
    }

    /// What a push is made from.
    package struct Facts: Sendable {
        /// What is announced.
        package let challenge: Challenge
        /// The device.
        package let enrollment: EnrollmentID
        /// Where it is reached.
        package let push: RegisteredPush
        /// How many challenges are pending for it, this one among them.
        package let badge: Int

        /// What a push of these is made from.
        package init(_ challenge: Challenge, to enrollment: EnrollmentID, by push: RegisteredPush, badge: Int) {
            self.challenge = challenge
            self.enrollment = enrollment
            self.push = push
            self.badge = badge
        }
    }

    /// A push that is to be sent now.
    package struct Order: Sendable {
        /// What it says.
        package let content: Content
        /// Where to.
        package let registration: PushRegistration
        /// The same without the token, and since when.
        package let target: PushTarget
        /// When it is of no use any more.
        package let expiresAt: Timestamp

        /// What a push says.
        package enum Content: Hashable, Sendable {
            /// That a challenge is pending.
            case announcement(SignedAnnouncement)
            /// That a challenge has ended; it shows nothing and only wakes the app.
            case withdrawal(ChallengeID, from: EnrollmentID)
        }
    }

    /// Reads what pushes are made from, as the challenges stand now.
    ///
    /// - Returns: in their order; nil where there is nothing to announce any more, or nowhere to send it.
    package static func facts(of subjects: [Subject], ports: Ports) async throws -> [Facts?] {
        let now = ports.time.now
        let facts = try await ports.store.read {
            try $0.pushes.announcementFacts(of: subjects, now: now, limit: Challenge.pendingLimit)
        }
        return facts.map { $0?.challenge.isOpen(at: now) == true ? $0 : nil }
    }

    /// Makes a push.
    package static func prepare(_ facts: Facts, ports: Ports) async throws -> Order {
        let announcement = try await facts.challenge.announcement(
            to: facts.enrollment, badge: facts.badge, ports: ports)
        return Order(
            content: .announcement(announcement), registration: facts.push.registration,
            target: PushTarget(facts.push), expiresAt: facts.challenge.expiresAt)
    }

    /// Makes the push that takes a notification back.
    ///
    /// - Returns: nil when there is nowhere to send it.
    package static func prepareWithdrawal(
        of id: ChallengeID, from enrollment: EnrollmentID, until end: Timestamp, ports: Ports
    ) async throws -> Order? {
        guard let push = try await ports.store.read({ try $0.pushes.find(of: enrollment) }) else { return nil }
        return Order(
            content: .withdrawal(id, from: enrollment), registration: push.registration, target: PushTarget(push),
            expiresAt: end)
    }
}

extension Challenge {
    /// The announcement of this challenge to one device.
    func announcement(to enrollment: EnrollmentID, badge: Int, ports: Ports) async throws -> SignedAnnouncement {
        let shown = PushAlert(title: question.clientName.text, body: alert.text)
        let envelope = PushEnvelope(
            issuer: ports.issuer, enrollment: enrollment, challenge: id, challengeType: question.type,
            issuedAt: question.askedAt, expiresAt: expiresAt, alert: shown)
        let keys = try ports.keys.current()
        return try await envelope.signed(
            by: keys.push, keyID: keys.pushKeyID,
            category: PushCategory(
                question, methods: methods, asksNumber: numberHash != nil, isClaimed: channel.kind == .code,
                showing: shown),
            badge: badge)
    }
}

extension PushTarget {
    /// Where a registration leads.
    fileprivate init(_ push: RegisteredPush) {
        self.init(service: push.registration.service, app: push.registration.app, registeredAt: push.at)
    }
}

extension Delivery {
    /// Whether a notification may stand on the device for a question that has ended so, and the device does not know.
    ///
    /// What expires is not taken back: every push has its question's end as its own, and an app learns the rest when it
    /// looks.
    fileprivate func needsWithdrawal(by outcome: ChallengeOutcome) -> Bool {
        guard case .accepted = push?.delivery, enrollment != outcome.decidedBy else { return false }
        if case .expired = outcome { return false }
        return true
    }
}

extension UnitOfWork {
    /// Has the notification of a challenge that has ended taken back from a device.
    private func withdraw(
        _ challenge: Challenge, from enrollment: EnrollmentID
    ) throws {
        try outbox.enqueue(
            OutboxMessage(
                id: nextEventID(),
                content: .withdrawal(challenge.id, to: enrollment, client: challenge.question.client),
                dueAt: now, expiresAt: now.adding(AnnounceChallenge.withdrawalLifetime)))
        notify(.outbox)
    }

    /// Has the notifications of a challenge taken back that has ended, and wakes its devices.
    func tellDevices(
        of challenge: Challenge, ended outcome: ChallengeOutcome
    ) throws {
        for delivery in try targets.deliveries(of: challenge.id) {
            notify(.enrollment(delivery.enrollment))
            if delivery.needsWithdrawal(by: outcome) {
                try withdraw(challenge, from: delivery.enrollment)
            }
        }
    }

    /// Has a challenge announced to a device.
    func announce(
        _ challenge: Challenge, to enrollment: EnrollmentID
    ) throws {
        try outbox.enqueue(
            OutboxMessage(
                id: nextEventID(), content: .push(challenge.id, to: enrollment, client: challenge.question.client),
                dueAt: now,
                expiresAt: challenge.expiresAt))
        try pushes.record(.queued(lastFailure: nil), of: challenge.id, to: enrollment, at: now)
        notify(.outbox)
    }
}
