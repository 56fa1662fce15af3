import Crypto
package import CountersignWire
import Encodings
import JOSE

/// Announces challenges to devices by push notifications.
///
/// Spec: docs/protocol/pushes.md, *The announcement*.
package enum AnnounceChallenge {
    /// How long delivery of a withdrawal is tried.
    static let withdrawalLifetime = Seconds.hours(1)

    /// A challenge, and the device that it is announced to.
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

    /// The data from which a push is made.
    package struct Facts: Sendable {
        /// The challenge to announce.
        package let challenge: Challenge
        /// The device.
        package let enrollment: EnrollmentID
        /// The push registration of the device.
        package let push: RegisteredPush
        /// How many challenges are pending for the device, including this one; ``Challenge/pendingLimit`` at most.
        package let badge: Int
        /// The device, if it has JWKs; nil for one with a certificate, whose announcement depends on nothing of it.
        package let jwkDevice: Enrollment?

        /// The data for a push of a challenge to a device.
        package init(
            _ challenge: Challenge, to enrollment: EnrollmentID, by push: RegisteredPush, badge: Int,
            jwkDevice: Enrollment? = nil
        ) {
            self.challenge = challenge
            self.enrollment = enrollment
            self.push = push
            self.badge = badge
            self.jwkDevice = jwkDevice
        }
    }

    /// A push to send now.
    package struct Order: Sendable {
        /// The content of the push.
        package let content: Content
        /// The registration to which the push is sent.
        package let registration: PushRegistration
        /// The registration without the token, with the time when it was made.
        package let target: PushTarget
        /// When the push becomes useless.
        package let expiresAt: Timestamp

        /// The content of a push.
        package enum Content: Hashable, Sendable {
            /// Announces a pending challenge.
            case announcement(SignedAnnouncement)
            /// Announces a pending challenge to a device that has JWKs.
            case jwt(JWTAnnouncement)
            /// Says that a challenge has ended; this push shows nothing and only wakes the app.
            case withdrawal(ChallengeID, from: EnrollmentID)
        }
    }

    /// Reads the data for pushes, as the challenges are now.
    ///
    /// - Parameters:
    ///   - subjects: the challenges and devices.
    ///   - ports: the external dependencies.
    /// - Returns: one element for each subject, in their order; nil if the challenge is not open or the device has no
    ///   push registration.
    /// - Throws: ``StoreError``.
    package static func facts(of subjects: [Subject], ports: Ports) async throws -> [Facts?] {
        let now = ports.time.now
        let facts = try await ports.store.read {
            try $0.pushes.announcementFacts(of: subjects, now: now, limit: Challenge.pendingLimit)
        }
        return facts.map { $0?.challenge.isOpen(at: now) == true ? $0 : nil }
    }

    /// Makes the push that announces a challenge.
    ///
    /// - Parameters:
    ///   - facts: the data for the push.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of signing the announcement.
    package static func prepare(_ facts: Facts, ports: Ports) async throws -> Order {
        let challenge = facts.challenge
        let content: Order.Content
        if let device = facts.jwkDevice {
            content = .jwt(try await challenge.jwtAnnouncement(to: device, badge: facts.badge, ports: ports))
        } else {
            content = .announcement(
                try await challenge.announcement(to: facts.enrollment, badge: facts.badge, ports: ports))
        }
        return Order(
            content: content, registration: facts.push.registration, target: PushTarget(facts.push),
            expiresAt: challenge.expiresAt)
    }

    /// Makes the push that removes a notification from a device.
    ///
    /// - Parameters:
    ///   - id: the challenge that has ended.
    ///   - enrollment: the device.
    ///   - end: when the push becomes useless.
    ///   - ports: the external dependencies.
    /// - Returns: the push; nil if the device has no push registration, or its app would not know what the push says.
    /// - Throws: ``StoreError``.
    package static func prepareWithdrawal(
        of id: ChallengeID, from enrollment: EnrollmentID, until end: Timestamp, ports: Ports
    ) async throws -> Order? {
        let push = try await ports.store.read { reader -> RegisteredPush? in
            guard try reader.enrollments.find(enrollment)?.signsReceipts == true else { return nil }
            return try reader.pushes.find(of: enrollment)
        }
        guard let push else { return nil }
        return Order(
            content: .withdrawal(id, from: enrollment), registration: push.registration, target: PushTarget(push),
            expiresAt: end)
    }
}

extension Challenge {
    /// The signed announcement of this challenge to one device.
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

/// What devices get that have JWKs.
extension Challenge {
    /// The signed announcement of this challenge to a device.
    fileprivate func jwtAnnouncement(to device: Enrollment, badge: Int, ports: Ports) async throws -> JWTAnnouncement {
        func announcement(_ question: Question) async throws -> JWTAnnouncement {
            JWTAnnouncement(
                challenge: id, alert: PushAlert(title: question.clientName.text, body: alert.text),
                verification: verification(by: device, at: ports.time.now), badge: badge,
                // Whoever delivers pushes reads what is in them.
                token: try await token(for: device, asking: question, showing: alert, ports: ports))
        }
        let whole = try await announcement(question)
        guard whole.payload.encoded.count > PushEnvelope.maximumPayloadSize else { return whole }
        // Where it was begun can be long, and is in what the device fetches.
        var short = question
        short.context = nil
        return try await announcement(short)
    }

    /// This challenge as a JWT for a device.
    ///
    /// - Parameters:
    ///   - device: the device.
    ///   - shortened: the question, where not all of it is said; nil for the whole.
    ///   - message: the text that its app shows.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError/unavailable`` while the key that signs it is being made; an error of signing.
    func token(
        for device: Enrollment, asking shortened: Question? = nil, showing message: DisplayMessage, ports: Ports
    ) async throws -> String {
        guard let key = try ports.keys.current().tokens.rs256 else { throw StoreError.unavailable }
        let challenge = JWTChallenge(
            question: shortened ?? question, message: message, to: device.id, of: device.user, at: device.client,
            verification: verification(by: device, at: ports.time.now), expiresAt: expiresAt)
        // RS256 signs the same content alike.
        let name = SHA256.hash(data: challenge.content + Array(key.keyID.utf8))
        if let known = ports.signedChallenges[name] { return known }
        let token = try await challenge.signed(by: key)
        ports.signedChallenges.keep(token, as: name)
        return token
    }

    /// Whether the app of a device is to ask for the user's biometric: the order of the methods decides, as it does
    /// for devices of ours.
    private func verification(by device: Enrollment, at now: Timestamp) -> JWTChallenge.UserVerification {
        let usable = device.usableMethods(at: now)
        guard methods.first(where: usable.contains) == .biometric else { return .none }
        return methods.contains(.confirm) ? .preferred : .required
    }
}

extension PushTarget {
    /// The target of a registration.
    fileprivate init(_ push: RegisteredPush) {
        self.init(service: push.registration.service, app: push.registration.app, registeredAt: push.at)
    }
}

extension Delivery {
    /// Whether the device may still show a notification of the challenge and does not know how the challenge ended.
    ///
    /// An expired challenge needs no withdrawal: each push expires with its challenge, and the app learns the rest
    /// when it next looks.
    fileprivate func needsWithdrawal(by outcome: ChallengeOutcome) -> Bool {
        guard case .accepted = push?.delivery, enrollment != outcome.decidedBy else { return false }
        if case .expired = outcome { return false }
        return true
    }
}

extension UnitOfWork {
    /// Queues a push that removes the notification of an ended challenge from a device.
    private func withdraw(
        _ challenge: Challenge, from enrollment: EnrollmentID
    ) throws {
        try outbox.enqueue(
            OutboxMessage(
                id: nextID(),
                content: .withdrawal(challenge.id, to: enrollment, client: challenge.question.client),
                dueAt: now, expiresAt: now.adding(AnnounceChallenge.withdrawalLifetime)))
    }

    /// Wakes the devices of an ended challenge, and queues the removal of its notifications.
    func tellDevices(
        of challenge: Challenge, ended outcome: ChallengeOutcome
    ) throws {
        for delivery in try targets.deliveries(of: challenge.id) {
            // The device that decided knows.
            if delivery.enrollment != outcome.decidedBy { notify(.enrollment(delivery.enrollment)) }
            if delivery.needsWithdrawal(by: outcome) {
                try withdraw(challenge, from: delivery.enrollment)
            }
        }
    }

    /// Queues the push that announces a challenge to a device.
    func announce(
        _ challenge: Challenge, to enrollment: EnrollmentID
    ) throws {
        try outbox.enqueue(
            OutboxMessage(
                id: nextID(), content: .push(challenge.id, to: enrollment, client: challenge.question.client),
                dueAt: now,
                expiresAt: challenge.expiresAt))
        try pushes.record(.queued(lastFailure: nil), of: challenge.id, to: enrollment, at: now)
    }
}
