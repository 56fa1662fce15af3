public import CountersignWire
import Encodings
import OpenPGP

/// Enrolls a device with a ticket.
///
/// Spec: design 3.5.
public enum EnrollDevice {
    /// What came of it.
    public enum Outcome: Sendable {
        /// The enrollment, new or, for a repeat of the same request, as it was made.
        case enrolled(Enrollment)
        /// The request's signature is refused.
        case refused(DeviceRefusal)
        /// The certificate is not one of a device.
        case certificateInvalid(DeviceCertificateRefusal)
        /// No such ticket, or its client is not linked to the user any more.
        case ticketInvalid
        /// The ticket enrolled another device.
        case ticketUsed
        /// The ticket is too old.
        case ticketExpired
        /// The user has a device that would have to approve, and the ticket does not waive it.
        case needsApproval
        /// The primary key was enrolled before.
        case alreadyEnrolled
        /// The user has as many devices as the client allows.
        case tooManyDevices
    }

    /// Enrolls a device.
    ///
    /// - Parameters:
    ///   - enrollment: what the device sent.
    ///   - request: the signed request it came in, whose `keyid` is the fingerprint of the certificate.
    ///   - ports: the world.
    public static func enroll(
        _ enrollment: EnrollmentRequest, in request: DeviceRequest, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        guard let ticket = try await ports.store.read({ try $0.ticket(SecretHash(of: enrollment.ticket)) }) else {
            return .ticketInvalid
        }
        let certificate: Certificate
        let keys: DeviceKeys
        do throws(DeviceCertificateRefusal) {
            (certificate, keys) = try deviceKeys(enrollment.certificate, ticket: ticket, ports: ports, now: now)
        } catch {
            return .certificateInvalid(error)
        }
        let nonce: SpendableNonce
        do throws(DeviceRefusal) {
            guard request.signature.parameters.keyID == "\(certificate.fingerprint)" else {
                throw .signature(.parameter("keyid"))
            }
            try request.verify(by: keys.authentication)
            nonce = try SpendableNonce(request.signature.parameters, now: now)
        } catch {
            return .refused(error)
        }
        let made = Enrollment(
            id: ticket.enrollment, user: ticket.user, client: ticket.client, state: .active,
            credential: .certificate(keys), device: enrollment.device,
            push: enrollment.push.map { PushTarget(service: $0.service, app: $0.app, registeredAt: now) },
            createdAt: now)
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            let outcome = try store(made, certificate, ticket: ticket, nonce: nonce, events, now: now, writer)
            // A repeat brings the token, too: it may be a newer one.
            if case .enrolled = outcome, let push = enrollment.push { try writer.put(push, of: made.id, at: now) }
            return outcome
        }
    }

    private static func deviceKeys(
        _ bytes: [UInt8], ticket: Ticket, ports: Ports, now: Timestamp
    ) throws(DeviceCertificateRefusal) -> (Certificate, DeviceKeys) {
        let certificate: Certificate
        do { certificate = try Certificate(parsing: bytes) } catch { throw .openPGP(error) }
        let userID = DeviceKeys.userID(of: ticket.user, enrollment: ticket.enrollment, issuer: ports.issuer)
        let latest = now.adding(seconds: SpendableNonce.tolerance).unixSeconds
        return (certificate, try DeviceKeys(of: certificate, userID: userID, now: latest))
    }

    private static func store(
        _ made: Enrollment, _ certificate: Certificate, ticket known: Ticket, nonce: SpendableNonce,
        _ events: EventIDs, now: Timestamp, _ writer: any StoreWriter
    ) throws -> Outcome {
        if let refusal = try writer.spend(nonce) { return .refused(refusal) }
        // First, because it makes others wait who would change what is read next: the user's devices and the ticket.
        guard try writer.linkedUser(.id(known.user), of: known.client) != nil,
            let ticket = try writer.ticket(known.hash)
        else { return .ticketInvalid }
        if ticket.spentAt != nil {
            // The reply was lost and the device sends the same certificate again: it gets the same enrollment.
            guard let enrollment = try writer.enrollment(ticket.enrollment), enrollment.state == .active,
                enrollment.keys.primary.fingerprint == certificate.fingerprint
            else { return .ticketUsed }
            return .enrolled(enrollment)
        }
        guard now < ticket.expiresAt else { return .ticketExpired }
        guard try !writer.isEnrolled(certificate.fingerprint) else { return .alreadyEnrolled }
        let others = try writer.activeEnrollments(of: ticket.user)
        guard ticket.waivesApproval || others.isEmpty else { return .needsApproval }
        let limit = try writer.client(ticket.client)?.deviceLimit
        let surplus = Self.surplus(of: others, of: ticket.client, beside: limit)
        guard surplus.isEmpty || limit?.replacesOldest == true else { return .tooManyDevices }
        guard try writer.spend(ticket.hash, at: now) else { return .ticketUsed }
        for old in surplus {
            _ = try writer.removeEnrollment(old, reason: .replaced, by: nil, at: now, events)
        }
        try writer.insert(made, certificate: certificate.encoded)
        try writer.append(
            AuditEvent(
                id: events.next(), at: now, kind: .enrollmentCreated, client: ticket.client, user: ticket.user,
                enrollment: made.id,
                detail: [
                    "fingerprint": .string("\(certificate.fingerprint)"), "device": made.device.json,
                    "waiver": .bool(ticket.waivesApproval),
                ]))
        return .enrolled(made)
    }

    /// The oldest devices that would have to go for one more, of those that came through a client.
    private static func surplus(
        of enrollments: [Enrollment], of client: ClientID, beside limit: DeviceLimit?
    ) -> ArraySlice<Enrollment> {
        guard let limit else { return [] }
        let own = enrollments.filter { $0.client == client }.sorted { $0.id < $1.id }
        return own.prefix(max(0, own.count + 1 - limit.maximum))
    }
}
