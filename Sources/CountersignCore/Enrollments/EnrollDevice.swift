public import CountersignWire
import Encodings
import OpenPGP

/// Enrolls a device with a ticket.
///
/// Spec: design 3.5.
public enum EnrollDevice {
    /// What came of it.
    public enum Outcome: Sendable {
        /// The enrollment, new or, for a repeat of the same request, as it was made; and what it must wait for.
        case enrolled(Enrollment, AwaitedApproval?)
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
        /// The primary key was enrolled before.
        case alreadyEnrolled
        /// The user has as many devices as the client allows.
        case tooManyDevices
        /// The client lets the user enroll no device.
        case blocked
        /// Another enrollment of the user is reached by the same push token.
        case pushTokenInUse
        /// The user was asked about too many new devices.
        case rateLimited(retryAfter: Int64)
    }

    /// Enrolls a device.
    ///
    /// - Parameters:
    ///   - enrollment: what the device sent.
    ///   - request: the signed request it came in, whose `keyid` is the fingerprint of the certificate.
    ///   - place: from where, as the user's other devices show it.
    ///   - ports: the world.
    public static func enroll(
        _ enrollment: EnrollmentRequest, in request: DeviceRequest, from place: ContextLine? = nil, ports: Ports
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
        let push = enrollment.push
        let arrival = Arrival(
            certificate: certificate, place: place, approval: ports.random.id(at: now),
            nonce: ports.random.bytes(32)
        ) { wait in
            Enrollment(
                id: ticket.enrollment, user: ticket.user, client: ticket.client, state: .active,
                credential: .certificate(keys), device: enrollment.device,
                push: push.map { PushTarget(service: $0.service, app: $0.app, registeredAt: now) }, createdAt: now,
                wait: wait)
        }
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            if let refusal = try writer.spend(nonce) { return .refused(refusal) }
            if let push, try writer.isTaken(push, besides: ticket.enrollment, of: ticket.user) {
                return .pushTokenInUse
            }
            let outcome = try store(arrival, ticket: ticket, events, now: now, ports, writer)
            // A repeat brings the token, too: it may be a newer one.
            if case .enrolled(let made, _) = outcome, let push { try writer.put(push, of: made.id, at: now) }
            return outcome
        }
    }

    /// A device at the door, and what chance contributes to the question whether it may come in.
    private struct Arrival: Sendable {
        let certificate: Certificate
        let place: ContextLine?
        let approval: ChallengeID
        let nonce: [UInt8]
        /// The enrollment, which may have to wait.
        let enrollment: @Sendable (Enrollment.Wait?) -> Enrollment
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
        _ arrival: Arrival, ticket known: Ticket, _ events: EventIDs, now: Timestamp, _ ports: Ports,
        _ writer: any StoreWriter
    ) throws -> Outcome {
        let fingerprint = arrival.certificate.fingerprint
        // First, because it makes others wait who would change what is read next: the user's devices and the ticket.
        guard let user = try writer.linkedUser(.id(known.user), of: known.client),
            let ticket = try writer.ticket(known.hash), let client = try writer.client(known.client)
        else { return .ticketInvalid }
        if ticket.spentAt != nil {
            // The reply was lost and the device sends the same certificate again: it gets the same enrollment.
            guard let enrollment = try writer.enrollment(ticket.enrollment), enrollment.state == .active,
                enrollment.keys.primary.fingerprint == fingerprint
            else { return .ticketUsed }
            let approval = enrollment.wait.map { AwaitedApproval($0, ports.hasher) }
            return .enrolled(enrollment, approval)
        }
        guard !user.isEnrollmentBlocked else { return .blocked }
        guard now < ticket.expiresAt else { return .ticketExpired }
        guard try !writer.isEnrolled(fingerprint) else { return .alreadyEnrolled }
        let others = try writer.activeEnrollments(of: ticket.user)
        if let limit = client.deviceLimit, !limit.replacesOldest,
            !limit.surplus(of: others, of: client.id).isEmpty
        {
            return .tooManyDevices
        }
        let waits = !ticket.waivesApproval && !others.isEmpty
        guard !waits || others.count(where: { $0.wait != nil }) < AwaitedApproval.maximumWaiting else {
            return .tooManyDevices
        }
        if waits, let refusal = try limit(askingAbout: ticket, at: now, writer) { return refusal }
        guard try writer.spend(ticket.hash, at: now) else { return .ticketUsed }
        let wait =
            waits ? Enrollment.Wait(for: arrival.approval, until: now.adding(seconds: client.coolingOff)) : nil
        let made = arrival.enrollment(wait)
        try writer.insert(made, certificate: arrival.certificate.encoded)
        try writer.append(
            .enrollmentCreated,
            [
                "fingerprint": .string("\(fingerprint)"), "device": made.device.json,
                "waiver": .bool(ticket.waivesApproval),
            ], of: made, at: now, events)
        try writer.tellClients(.created(isWaived: ticket.waivesApproval), of: made, at: now, events)
        guard let wait else {
            try writer.replaceSurplus(beside: made, of: client.deviceLimit, at: now, events)
            return .enrolled(made, nil)
        }
        let approval = AwaitedApproval(wait, ports.hasher)
        try ask(others.filter { $0.wait == nil }, about: made, approval, arrival, client, events, ports, writer)
        return .enrolled(made, approval)
    }

    /// Asks the user's other devices.
    private static func ask(
        _ others: [Enrollment], about made: Enrollment, _ approval: AwaitedApproval, _ arrival: Arrival,
        _ client: Client, _ events: EventIDs, _ ports: Ports, _ writer: any StoreWriter
    ) throws {
        guard let nonce = Nonce(bytes: arrival.nonce) else { preconditionFailure("a nonce has 32 bytes") }
        let question = try approval.question(
            about: made, to: others, by: client, from: arrival.place, nonce: nonce, ports: ports)
        try writer.ask(
            question, of: others.map(\.id), telling: others.filter { $0.push != nil }.map(\.id), at: made.createdAt,
            events)
    }

    /// Why the user is not asked about one more device now, or nil.
    private static func limit(
        askingAbout ticket: Ticket, at now: Timestamp, _ writer: any StoreWriter
    ) throws -> Outcome? {
        let asks = try writer.countAttempt(
            "new device \(ticket.user) \(ticket.client)", window: AwaitedApproval.window, at: now)
        guard asks.number > AwaitedApproval.maximumAsks else { return nil }
        return .rateLimited(retryAfter: max(1, asks.windowEnd.seconds - now.seconds))
    }
}
