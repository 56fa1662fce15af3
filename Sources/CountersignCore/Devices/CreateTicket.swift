package import CountersignWire
import Encodings
import OpenPGP

/// Makes the authority to enroll one device of a user.
package enum CreateTicket {
    /// The ticket, which is shown this once.
    package struct Created: Equatable, Sendable {
        /// What a QR code or link carries, the secret in it.
        package let invitation: EnrollmentInvitation
        /// When it stops working.
        package let expiresAt: Timestamp
    }

    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The ticket.
        case created(Created)
        /// The client is linked to no such user.
        case notFound
        /// The client lets the user enroll no device.
        case blocked
    }

    /// Makes a ticket.
    package static func create(
        for reference: UserReference, by caller: ClientCaller, idempotency: IdempotencyKey?, ports: Ports
    ) async throws -> Replayable<Outcome> {
        let now = ports.time.now
        let client = caller.client
        let secret = Secret("ctt_" + Base64URL.encode(ports.random.bytes(24)))
        let enrollment: EnrollmentID = ports.random.id(at: now)
        let issuer = ports.issuer
        let fingerprint = try ports.keys.current().certificate.fingerprint
        return try await ports.commit(at: now, as: caller.actor) { work in
            try work.once(idempotency, issuer) {
                guard let user = try work.links.find(reference, of: client.id) else { return .notFound }
                guard !user.isEnrollmentBlocked else { return .blocked }
                let ticket = Ticket(
                    hash: SecretHash(of: secret), user: user.id, client: client.id, enrollment: enrollment,
                    waivesApproval: client.waivesEnrollmentApproval, expiresAt: now.adding(Ticket.lifetime))
                try work.tickets.insert(ticket)
                try work.raise(.ticketCreated(ticket))
                let invitation = EnrollmentInvitation(
                    issuer: issuer, ticket: secret, fingerprint: fingerprint, user: user.id, enrollment: enrollment)
                return .created(Created(invitation: invitation, expiresAt: ticket.expiresAt))
            }
        }
    }
}

/// A repeat gets the ticket that was made, also when it was spent, has expired, or its user was erased since: then it
/// enrolls nobody.
extension CreateTicket.Outcome: KeptOutcome {
    var kept: KeptForm? {
        guard case .created(let created) = self else { return nil }
        let invitation = created.invitation
        return KeptForm([
            "ticket": .string(invitation.ticket.reveal()), "fingerprint": .string("\(invitation.fingerprint)"),
            "user": .string("\(invitation.user)"), "enrollment": .string("\(invitation.enrollment)"),
            "expires_at": .string("\(created.expiresAt)"),
        ])
    }

    init?(kept: KeptForm, of issuer: Issuer) {
        guard let ticket = kept.read("ticket", { Secret($0) }),
            let fingerprint = kept.read("fingerprint", { Fingerprint($0[...]) }),
            let user = kept.read("user", { UserID($0) }),
            let enrollment = kept.read("enrollment", { EnrollmentID($0) }),
            let expiresAt = kept.read("expires_at", { Timestamp($0) })
        else { return nil }
        let invitation = EnrollmentInvitation(
            issuer: issuer, ticket: ticket, fingerprint: fingerprint, user: user, enrollment: enrollment)
        self = .created(.init(invitation: invitation, expiresAt: expiresAt))
    }
}
