import CountersignWire
import Encodings
import OpenPGP

/// A device that wants to enroll with a ticket, whatever its credential is.
///
/// ``EnrollDevice`` and ``EnrollByJWK`` make one, and differ in nothing else: from when a device counts, whom it is told
/// to, and how many a user may have does not depend on its keys.
struct EnrollmentCandidate: Sendable {
    /// What the device shows itself by.
    let credential: Credential
    /// The certificate in the form in which it is stored; empty for a device that has JWKs.
    let certificate: [UInt8]
    /// The device's description of itself.
    let device: DeviceDescription
    /// The versions of a challenge's body that it reads.
    let versions: [Int64]
    /// Its registration for pushes; nil for none.
    let push: PushRegistration?
    /// The place that the request came from, as the user's other devices show it; nil if it is not known.
    let place: ContextLine?
    /// The id of the question whether it may be added, if one is put.
    let approval: ChallengeID
    /// The nonce of that question.
    let nonce: [UInt8]

    /// Enrolls the device in a transaction.
    ///
    /// - Parameters:
    ///   - known: the ticket, as it was read before.
    ///   - ports: the external dependencies.
    ///   - work: the transaction.
    func enroll(with known: Ticket, _ ports: Ports, in work: UnitOfWork) throws -> EnrollDevice.Outcome {
        let outcome = try store(with: known, ports, in: work)
        // A repeated request may carry a newer token. A suspended device does nothing, so it changes none.
        if case .enrolled(let made, _) = outcome, made.state == .active, let push {
            try work.pushes.put(push, of: made.id, at: work.now)
        }
        return outcome
    }

    private func store(with known: Ticket, _ ports: Ports, in work: UnitOfWork) throws -> EnrollDevice.Outcome {
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
            // If the reply was lost, the device sends the same keys again. It gets the same enrollment.
            guard let enrollment = try work.enrollments.find(ticket.enrollment), enrollment.isPresent,
                isCredential(of: enrollment)
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
        guard try !isEnrolled(in: work) else { return .alreadyEnrolled }
        // Devices that wait do not count towards the client's limit of devices.
        let counted = trust.enrollments.filter { $0.counts(at: work.now) }
        if let limit = client.deviceLimit, !limit.replacesOldest, !limit.surplus(of: counted, of: client.id).isEmpty {
            return .tooManyDevices
        }
        guard try work.tickets.spend(ticket.hash, at: work.now) else { return .ticketUsed }
        let countsFrom = ticket.waivesApproval ? nil : trust.newEnrollmentCounts
        let asks = try countsFrom != nil && isAsked(about: ticket, trust, in: work)
        let made = enrollment(
            by: ticket, of: client, countsFrom: countsFrom, approval: asks ? approval : nil, at: work.now)
        try work.enrollments.insert(made, certificate: certificate)
        try work.raise(.enrollmentAdded(made, isWaived: ticket.waivesApproval))
        if made.biometric != nil {
            try work.raise(
                .methodChanged(MethodEvent(method: .biometric, change: .set, until: countsFrom), of: made))
        }
        guard let countsFrom else {
            try work.replaceSurplus(beside: made, of: client.deviceLimit)
            return .enrolled(made, nil)
        }
        try work.waits.insert(.confirm, of: made.id, until: countsFrom)
        for method in made.methods { try work.waits.insert(method, of: made.id, until: countsFrom) }
        if asks { try ask(trust, about: made, client, ports, in: work) }
        return .enrolled(made, AwaitedApproval(made, trust, ports.hasher))
    }

    /// The enrollment; a key that it brings for the user's biometric counts from when the device does.
    ///
    /// - Parameters:
    ///   - ticket: the ticket.
    ///   - client: the ticket's client.
    ///   - countsFrom: the end of the wait; nil if there is none.
    ///   - approval: the id of the question about the device; nil if none is put.
    ///   - now: the current time.
    private func enrollment(
        by ticket: Ticket, of client: Client, countsFrom: Timestamp?, approval: ChallengeID?, at now: Timestamp
    ) -> Enrollment {
        var biometric: EnrolledBiometric?
        if case .jwk(let keys) = credential, keys.userVerification != nil {
            biometric = EnrolledBiometric(key: nil, countsFrom: countsFrom ?? now)
        }
        return Enrollment(
            id: ticket.enrollment, user: ticket.user, client: ticket.client, state: .active, credential: credential,
            device: device, versions: versions, biometric: biometric,
            push: push.map { PushTarget(service: $0.service, app: $0.app, registeredAt: now) }, createdAt: now,
            countsFrom: countsFrom, methodsCount: countsFrom == nil, approval: approval,
            isByThirdParty: client.isThirdParty)
    }

    /// Whether an enrollment has the very keys of this device.
    private func isCredential(of enrollment: Enrollment) -> Bool {
        switch (credential, enrollment.credential) {
        case (.openPGP, .openPGP): enrollment.fingerprint == credential.fingerprint
        case (.jwk(let own), .jwk(let other)): own.json == other.json
        case (.openPGP, .jwk), (.jwk, .openPGP): false
        }
    }

    /// Whether one of the device's keys was enrolled before, by whomever and for whatever purpose.
    private func isEnrolled(in work: UnitOfWork) throws -> Bool {
        switch credential {
        case .openPGP: try work.enrollments.isEnrolled(credential.fingerprint)
        case .jwk(let keys):
            try work.enrollments.isEnrolled(keys.fingerprint)
                || keys.thumbprints.contains { try work.enrollments.isEnrolled(thumbprint: $0) }
        }
    }

    /// Asks the user's other devices whether a new one may be added.
    private func ask(
        _ trust: TrustState, about made: Enrollment, _ client: Client, _ ports: Ports, in work: UnitOfWork
    ) throws {
        guard let nonce = Nonce(bytes: self.nonce) else { preconditionFailure("a nonce has 32 bytes") }
        let question = try trust.question(about: made, approval, by: client, from: place, nonce: nonce, ports: ports)
        let others = trust.others(besides: made.id)
        try work.ask(
            question, of: others.map(\.id), telling: others.filter { $0.push != nil }.map(\.id))
    }

    /// Whether the user is asked about a new device: there is a device to ask, and there were not too many questions.
    ///
    /// A device about which the user is not asked still waits. Spec: docs/decisions/0046-approval-of-devices.md.
    private func isAsked(about ticket: Ticket, _ trust: TrustState, in work: UnitOfWork) throws -> Bool {
        let now = trust.now
        guard !trust.others(besides: ticket.enrollment).isEmpty,
            trust.enrollments.count(where: { $0.approval != nil && !$0.counts(at: now) })
                < AwaitedApproval.maximumQuestions
        else { return false }
        return try !work.count(.newDeviceAsks(ticket.user, ticket.client)).isExceeded
    }
}
