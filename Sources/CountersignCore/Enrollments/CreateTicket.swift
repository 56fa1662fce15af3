public import CountersignWire
import Encodings
import OpenPGP

/// Makes the authority to enroll one device of a user.
public enum CreateTicket {
    /// The ticket, which is shown this once.
    public struct Created: Sendable {
        /// What a QR code or link carries, the secret in it.
        public let invitation: EnrollmentInvitation
        /// When it stops working.
        public let expiresAt: Timestamp
    }

    /// What came of it.
    public enum Outcome: Sendable {
        /// The ticket.
        case created(Created)
        /// The client is linked to no such user.
        case notFound
        /// The client lets the user enroll no device.
        case blocked
    }

    /// Makes a ticket.
    public static func create(
        for reference: UserReference, by client: Client, idempotency: IdempotencyKey?, ports: Ports,
        reply: @escaping @Sendable (Created) -> RecordedReply
    ) async throws -> Replayable<Outcome> {
        let now = ports.time.now
        let secret = Secret("ctt_" + Base64URL.encode(ports.random.bytes(24)))
        let enrollment: EnrollmentID = ports.random.id(at: now)
        let issuer = ports.issuer
        let fingerprint = try ports.keys.current().certificate.fingerprint
        return try await ports.commit(at: now) { work in
            try work.once(idempotency) {
                guard let user = try work.links.find(reference, of: client.id) else { return (.notFound, nil) }
                guard !user.isEnrollmentBlocked else { return (.blocked, nil) }
                let ticket = Ticket(
                    hash: SecretHash(of: secret), user: user.id, client: client.id, enrollment: enrollment,
                    waivesApproval: client.waivesEnrollmentApproval, expiresAt: now.adding(seconds: Ticket.lifetime))
                try work.tickets.insert(ticket)
                try work.raise(.ticketCreated(ticket))
                let invitation = EnrollmentInvitation(
                    issuer: issuer, ticket: secret, fingerprint: fingerprint, user: user.id, enrollment: enrollment)
                let created = Created(invitation: invitation, expiresAt: ticket.expiresAt)
                return (.created(created), reply(created))
            }
        }
    }
}
