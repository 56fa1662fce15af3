package import CountersignWire
import Encodings
import OpenPGP

/// Creates a ticket, which authorizes the enrollment of one device of a user.
package enum CreateTicket {
    /// A ticket with its secret, which is shown only once.
    package struct Created: Equatable, Sendable {
        /// The content of the QR code or link, which contains the secret.
        package let invitation: EnrollmentInvitation
        /// When the ticket expires.
        package let expiresAt: Timestamp

        fileprivate init(invitation: EnrollmentInvitation, expiresAt: Timestamp) {
            self.invitation = invitation
            self.expiresAt = expiresAt
        }

        /// A ticket with its secret, of an issuer whose certificate has this fingerprint.
        init(_ ticket: Ticket, _ secret: Secret<String>, of issuer: Issuer, _ fingerprint: Fingerprint) {
            self.init(
                invitation: EnrollmentInvitation(
                    issuer: issuer, ticket: secret, fingerprint: fingerprint, user: ticket.user,
                    enrollment: ticket.enrollment), expiresAt: ticket.expiresAt)
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The ticket.
        case created(Created)
        /// The client is not linked to such a user.
        case notFound
        /// The client does not let the user enroll devices.
        case blocked
    }

    /// Creates a ticket that expires after ``Ticket/lifetime``.
    ///
    /// - Parameters:
    ///   - reference: the user, by id or by the client's external id.
    ///   - caller: the client.
    ///   - idempotency: identifies the request; nil if the client sent no idempotency key.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
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
                // check: TicketTests.blocked
                guard !user.isEnrollmentBlocked else { return .blocked }
                let ticket = Ticket(
                    hash: SecretHash(of: secret), user: user.id, client: client.id, enrollment: enrollment,
                    waivesApproval: client.waivesEnrollmentApproval, expiresAt: now.adding(Ticket.lifetime))
                try work.tickets.insert(ticket)
                try work.raise(.ticketCreated(ticket))
                return .created(Created(ticket, secret, of: issuer, fingerprint))
            }
        }
    }
}

/// A repeated request gets the same ticket, even if the ticket was spent, has expired, or its user was erased since.
///
/// Such a ticket enrolls no device.
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
