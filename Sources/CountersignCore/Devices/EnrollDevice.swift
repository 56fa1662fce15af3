package import CountersignWire
import Encodings
import OpenPGP

/// Enrolls a device with a ticket.
///
/// Spec: docs/protocol/enrollment.md, *The steps of a device*.
package enum EnrollDevice {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment, made now or by an earlier copy of the request, and its wait; nil if it does not wait.
        case enrolled(Enrollment, AwaitedApproval?)
        /// The proof that the request comes from the device is refused.
        case refused(DeviceRefusal)
        /// The certificate does not have the form that a device's certificate must have.
        case certificateInvalid(DeviceCertificateRefusal)
        /// There is no such ticket, or its client is disabled or no longer linked to the user.
        case ticketInvalid
        /// The ticket was used before, by another device or for an enrollment that was removed since.
        case ticketUsed
        /// The ticket has expired.
        case ticketExpired
        /// The certificate's primary key was enrolled before.
        case alreadyEnrolled
        /// The user has as many devices as the client allows.
        case tooManyDevices
        /// The client does not let the user enroll devices.
        case blocked
        /// Another enrollment of the user has the same push token.
        case pushTokenInUse
    }

    /// Enrolls a device.
    ///
    /// - Parameters:
    ///   - enrollment: the request of the device.
    ///   - proof: the proof that the request comes from the device; its key id is the fingerprint of the certificate.
    ///   - place: the place that the request came from, as the user's other devices show it; nil if it is not known.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func enroll(
        _ enrollment: EnrollmentRequest, provedBy proof: some DeviceProof, from place: ContextLine? = nil, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        guard let ticket = try await ports.store.read({ try $0.tickets.find(SecretHash(of: enrollment.ticket)) }) else {
            return .ticketInvalid
        }
        let certificate: Certificate
        let keys: DeviceKeys
        do throws(DeviceCertificateRefusal) {
            (certificate, keys) = try deviceKeys(enrollment.certificate, ticket: ticket, ports: ports, now: now)
        } catch {
            return .certificateInvalid(error)
        }
        let replayGuard: ReplayGuard
        do throws(DeviceRefusal) {
            // check: EnrollDeviceTests.signature
            guard proof.keyID == "\(certificate.fingerprint)" else { throw .proof(.otherKey) }
            try proof.check(by: keys.authentication)
            replayGuard = try ReplayGuard(proof, now: now)
        } catch {
            return .refused(error)
        }
        let push = enrollment.push
        let candidate = EnrollmentCandidate(
            certificate: certificate, place: place, approval: ports.random.id(at: now),
            nonce: ports.random.bytes(32)
        ) { client, countsFrom, approval in
            Enrollment(
                id: ticket.enrollment, user: ticket.user, client: ticket.client, state: .active,
                credential: .openPGP(keys), device: enrollment.device, versions: enrollment.versions,
                push: push.map { PushTarget(service: $0.service, app: $0.app, registeredAt: now) }, createdAt: now,
                countsFrom: countsFrom, methodsCount: countsFrom == nil, approval: approval,
                isByThirdParty: client.isThirdParty)
        }
        return try await ports.commit(at: now, as: .device(ticket.enrollment)) { work in
            if let refusal = try work.spend(replayGuard) { return .refused(refusal) }
            let outcome = try store(candidate, ticket: ticket, push, ports, in: work)
            // A repeated request may carry a newer token. A suspended device does nothing, so it changes none.
            if case .enrolled(let made, _) = outcome, made.state == .active, let push {
                try work.pushes.put(push, of: made.id, at: now)
            }
            return outcome
        }
    }

    /// A device that wants to enroll, with the random values for the question whether it may be added.
    private struct EnrollmentCandidate: Sendable {
        let certificate: Certificate
        let place: ContextLine?
        let approval: ChallengeID
        let nonce: [UInt8]
        /// Makes the enrollment from the ticket's client, the end of its wait and the id of the question about it; the
        /// latter two are nil if there is no wait and no question.
        let enrollment: @Sendable (Client, Timestamp?, ChallengeID?) -> Enrollment
    }

    private static func deviceKeys(
        _ bytes: [UInt8], ticket: Ticket, ports: Ports, now: Timestamp
    ) throws(DeviceCertificateRefusal) -> (Certificate, DeviceKeys) {
        let userID = DeviceKeys.userID(of: ticket.user, enrollment: ticket.enrollment, issuer: ports.issuer)
        let latest = now.adding(ReplayGuard.tolerance).unixSeconds
        return try DeviceKeys.enrolling(bytes, userID: userID, now: latest)
    }

    private static func store(
        _ candidate: EnrollmentCandidate, ticket known: Ticket, _ push: PushRegistration?, _ ports: Ports,
        in work: UnitOfWork
    ) throws -> Outcome {
        let fingerprint = candidate.certificate.fingerprint
        // This comes first because it locks the user's row. Nobody can then change the user's devices and the ticket,
        // which are read next.
        guard let user = try work.links.find(.id(known.user), of: known.client),
            let ticket = try work.tickets.find(known.hash), let client = try work.clients.find(known.client),
            client.disabledAt == nil
        else { return .ticketInvalid }
        if let push, try work.stores.isTaken(push, besides: known.enrollment, of: known.user) {
            return .pushTokenInUse
        }
        let trust = try work.trustState(of: known.user, in: client.trustGroup)
        if ticket.spentAt != nil {
            // If the reply was lost, the device sends the same certificate again. It gets the same enrollment.
            guard let enrollment = try work.enrollments.find(ticket.enrollment), enrollment.isPresent,
                enrollment.keys.primary.fingerprint == fingerprint
            else { return .ticketUsed }
            return .enrolled(enrollment, AwaitedApproval(enrollment, trust, ports.hasher))
        }
        // check: EnrollBySignInTests.ended
        guard try work.isGood(ticket) else { return .ticketInvalid }
        // check: TicketTests.blocked
        guard !user.isEnrollmentBlocked else { return .blocked }
        // check: EnrollDeviceTests.expiry
        guard work.now < ticket.expiresAt else { return .ticketExpired }
        // check: EnrollDeviceTests.primaryOnce
        guard try !work.enrollments.isEnrolled(fingerprint) else { return .alreadyEnrolled }
        // Devices that wait do not count towards the client's limit of devices.
        let counted = trust.enrollments.filter { $0.counts(at: work.now) }
        if let limit = client.deviceLimit, !limit.replacesOldest, !limit.surplus(of: counted, of: client.id).isEmpty {
            return .tooManyDevices
        }
        guard try work.tickets.spend(ticket.hash, at: work.now) else { return .ticketUsed }
        let countsFrom = ticket.waivesApproval ? nil : trust.newEnrollmentCounts
        let asks = try countsFrom != nil && isAsked(about: ticket, trust, in: work)
        let made = candidate.enrollment(client, countsFrom, asks ? candidate.approval : nil)
        try work.enrollments.insert(made, certificate: candidate.certificate.encoded)
        try work.raise(.enrollmentAdded(made, isWaived: ticket.waivesApproval))
        guard let countsFrom else {
            try work.replaceSurplus(beside: made, of: client.deviceLimit)
            return .enrolled(made, nil)
        }
        try work.waits.insert(.confirm, of: made.id, until: countsFrom)
        if asks { try ask(trust, about: made, candidate, client, ports, in: work) }
        return .enrolled(made, AwaitedApproval(made, trust, ports.hasher))
    }

    /// Asks the user's other devices whether a new one may be added.
    private static func ask(
        _ trust: TrustState, about made: Enrollment, _ candidate: EnrollmentCandidate, _ client: Client, _ ports: Ports,
        in work: UnitOfWork
    ) throws {
        guard let nonce = Nonce(bytes: candidate.nonce) else { preconditionFailure("a nonce has 32 bytes") }
        let question = try trust.question(
            about: made, candidate.approval, by: client, from: candidate.place, nonce: nonce, ports: ports)
        let others = trust.others(besides: made.id)
        try work.ask(
            question, of: others.map(\.id), telling: others.filter { $0.push != nil }.map(\.id))
    }

    /// Whether the user is asked about a new device: there is a device to ask, and there were not too many questions.
    ///
    /// A device about which the user is not asked still waits. Spec: docs/decisions/0046-approval-of-devices.md.
    private static func isAsked(
        about ticket: Ticket, _ trust: TrustState, in work: UnitOfWork
    ) throws -> Bool {
        let now = trust.now
        guard !trust.others(besides: ticket.enrollment).isEmpty,
            trust.enrollments.count(where: { $0.approval != nil && !$0.counts(at: now) })
                < AwaitedApproval.maximumQuestions
        else { return false }
        return try !work.count(.newDeviceAsks(ticket.user, ticket.client)).isExceeded
    }
}
