import CountersignWire
package import Encodings
import OpenPGP

// All rules on when somebody enrolls a device by signing in are in this file; how old a session may be for it, before the
// person is asked anew, is an authorization check. A sign-in is what a ticket is, authority to ask: when the device counts
// is decided as for every other one.
//
// Spec: docs/decisions/0080-sign-ins-and-devices.md.

/// Exchanges an access token with the scope `enroll` for a ticket.
///
/// Spec: docs/protocol/enrollment.md, *An invitation for an access token*.
package enum ExchangeForTicket {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The ticket, made now or by an earlier exchange whose reply may have been lost.
        case created(CreateTicket.Created)
        /// The token is not ours, is over, or was taken back.
        case invalidToken
        /// The token lacks the scope, or its client has no longer the right to enroll devices.
        case scopeMissing
        /// The person signed in too long ago.
        case tooOld
        /// The person has a device or a passkey, and has signed in by less.
        case tooWeak
        /// The sign-in has enrolled a device, or changed a method, already.
        case spent
        /// The tokens by which the sign-in's ticket came have ended, and the ticket with them; this token outlives them.
        case ended
        /// The client does not let the user enroll devices.
        case blocked
        /// The proof of the token's key came before.
        case replayed
    }

    /// Exchanges a token.
    ///
    /// Each sign-in gives one ticket, whichever of its access tokens comes; it ends with the tokens that came first.
    ///
    /// - Parameters:
    ///   - token: the access token.
    ///   - key: the key that came with it; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func exchange(
        _ token: Secret<String>, by key: ProvedKey? = nil, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        guard let access = try await VerifyAccessToken.verify(token, by: key, ports: ports) else {
            return .invalidToken
        }
        // check: EnrollBySignInTests.scope
        guard access.scopes.contains(Ticket.scope) else { return .scopeMissing }
        let family = access.family
        let expiresAt = family.authentication.at.adding(Ticket.lifetime)
        // check: EnrollBySignInTests.old
        guard now < expiresAt else { return .tooOld }
        let secret = ports.hasher.ticket(of: family.authentication, at: family.client)
        let enrollment: EnrollmentID = ports.random.id(at: now)
        let issuer = ports.issuer
        let fingerprint = try ports.keys.current().certificate.fingerprint
        return try await ports.commit(at: now, as: .client(family.client)) { work in
            // This comes first because it locks the user's row.
            guard let user = try work.links.find(.id(family.user), of: family.client),
                let client = try work.clients.find(family.client), client.disabledAt == nil,
                try !work.families.isRevoked(access.jti)
            else { return .invalidToken }
            // check: EnrollBySignInTests.blocked
            guard !user.isEnrollmentBlocked else { return .blocked }
            let earlier = try work.tickets.find(SecretHash(of: secret))
            // check: EnrollBySignInTests.once
            guard earlier?.spentAt == nil else { return .spent }
            guard let current = try work.goodFamily(family.id) else { return .invalidToken }
            // check: EnrollBySignInTests.right
            guard client.rights.contains(.enrollments) else { return .scopeMissing }
            guard try work.mayEnroll(by: current.authentication, at: client.id) else { return .tooWeak }
            // check: EnrollBySignInTests.families
            guard try earlier.map(work.isGood) ?? true else { return .ended }
            // At all servers, since the ticket enrolls a device.
            // check: CoreTests.BoundTokenTests.ticket
            guard try work.spend(key) else { return .replayed }
            let ticket =
                earlier
                ?? Ticket(
                    hash: SecretHash(of: secret), user: family.user, client: family.client, family: family.id,
                    enrollment: enrollment, waivesApproval: false, expiresAt: expiresAt)
            if earlier == nil {
                try work.tickets.insert(ticket)
                try work.raise(.ticketCreated(ticket))
            }
            return .created(CreateTicket.Created(ticket, secret, of: issuer, fingerprint))
        }
    }
}

extension UnitOfWork {
    /// Whether somebody who has signed in at a client may enroll a device by that.
    ///
    /// Whoever reads a mailbox signs in by it. So a code that was sent to an address enrolls a device only for somebody
    /// who has neither a device nor a passkey that counts; the wait that they leave behind is that of every new device.
    /// A device's own signature enrolls none, because nobody was asked; ``SignInDevice`` gives its tokens no such scope,
    /// whatever was proved besides.
    ///
    /// - Parameters:
    ///   - authentication: how they have signed in.
    ///   - id: the client.
    func mayEnroll(by authentication: Authentication, at id: ClientID) throws -> Bool {
        guard let client = try clients.find(id), client.rights.contains(.enrollments) else { return false }
        switch authentication.evidence {
        case .approval(let challenge, _):
            // check: SignInDeviceTests.enroll
            guard challenge != nil else { return false }
            return true
        case .passkey: return true
        case .code:
            let devices = try trustState(of: authentication.user, in: client.trustGroup).enrollments
            // check: EnrollBySignInTests.weak
            guard !devices.contains(where: { $0.counts(at: now) }) else { return false }
            let passkeys = try passkeys.passkeys(of: authentication.user)
            // check: EnrollBySignInTests.passkey
            guard !passkeys.contains(where: { $0.guards(at: now) }) else { return false }
            return true
        }
    }

    /// Whether what a ticket follows from is still good.
    func isGood(_ ticket: Ticket) throws -> Bool {
        guard let id = ticket.family else { return true }
        guard let family = try goodFamily(id) else { return false }
        return try mayEnroll(by: family.authentication, at: family.client)
    }

    /// Tokens that are good, with what they follow from; nil if they are not.
    fileprivate func goodFamily(_ id: TokenFamilyID) throws -> TokenFamily? {
        guard let family = try families.find(id), family.isActive(at: now),
            try isGood(family.authentication, at: family.client)
        else { return nil }
        return family
    }
}
