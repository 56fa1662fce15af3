package import CountersignWire
import Encodings

// All rules on what a person may do on their account page are in this file.
//
// Spec: docs/decisions/0077-account-page.md.

/// Somebody who is at their account page.
package struct AccountVisit: Sendable {
    /// How old an authentication may be for an act on a device.
    ///
    /// Spec: OWASP ASVS 7.5.1; docs/decisions/0077-account-page.md.
    package static let freshness = Seconds.minutes(5)

    /// The client through which people sign in to the page.
    package let client: Client
    /// The session of the browser.
    package let session: Session

    /// The user.
    package var user: UserID { session.user }

    /// Whether the person was authenticated a moment ago.
    package func isFresh(at now: Timestamp) -> Bool { now < session.authentication.at.adding(Self.freshness) }
}

extension UnitOfWork {
    /// Who is at the account page; nil if the browser has no session that is good there.
    func accountVisit(_ secret: Secret<String>?, by client: Client) throws -> AccountVisit? {
        guard let secret, let session = try sessions.find(SecretHash(of: secret), at: now) else { return nil }
        // check: AccountTests.thirdParty
        guard try isGood(session.authentication.evidence, session.user, at: client.id) else { return nil }
        return AccountVisit(client: client, session: session)
    }

    /// Who acts at the account page, after a sign-in of the last minutes; nil if somebody must sign in, or sign in anew.
    ///
    /// It locks the user's row.
    ///
    /// - Parameters:
    ///   - secret: what the browser's cookie holds; nil for none.
    ///   - user: whom the page was shown to.
    ///   - busy: for how long the person may have been busy with the browser since the page was shown.
    func visitToAct(_ secret: Secret<String>?, shownTo user: UserID, busy: Seconds = 0) throws -> AccountVisit? {
        guard let client = try accountClient() else { return nil }
        try users.lock(user)
        guard let visit = try accountVisit(secret, by: client) else { return nil }
        // check: AccountTests.others
        guard visit.user == user else { return nil }
        // check: AccountTests.fresh
        guard visit.isFresh(at: now.adding(-busy)) else { return nil }
        return visit
    }

    /// How a person may confirm a device, by what has authenticated them.
    ///
    /// A device that is confirmed already says it by an approval that is as good as what the approval of a new device
    /// needs, and so does a passkey that all clients believe. An address says it only for somebody who has neither, and
    /// then not at once everywhere.
    ///
    /// - Parameters:
    ///   - visit: who is at the page.
    ///   - passkeys: the user's passkeys, also those that were removed lately.
    func confirmation(
        by visit: AccountVisit, among passkeys: [RegisteredPasskey]
    ) throws -> AccountConfirmation {
        switch visit.session.authentication.evidence {
        case .approval(_, let id):
            let isTap = visit.session.authentication.strength < .twoFactors
            return try confirms(id, isTap: isTap, of: visit.user) ? .byDevice : .refused
        case .code:
            let hasConfirmed = try enrollments.active(of: visit.user).contains {
                $0.isConfirmed && $0.isLetIn(at: now)
            }
            let hasPasskey = passkeys.contains { $0.isConfirmed && $0.counts(at: now) }
            return hasConfirmed || hasPasskey ? .refused : .byAddress
        case .passkey(let id): return passkeys.isConfirmed(id) ? .byDevice : .refused
        }
    }
}

extension UnitOfWork {
    /// Whether a person may resume a device: if it is suspended, by what confirms devices.
    ///
    /// A passkey must have been there for as long as a new device waits when the device was suspended: that device itself
    /// could have brought it in a moment before.
    ///
    /// - Parameters:
    ///   - device: the device.
    ///   - visit: who is at the page.
    ///   - passkeys: the user's passkeys, also those that were removed lately.
    func mayResume(
        _ device: Enrollment, by visit: AccountVisit, among passkeys: [RegisteredPasskey]
    ) throws -> Bool {
        guard case .suspended(let since) = device.state else { return false }
        // check: AccountTests.resume
        guard try confirmation(by: visit, among: passkeys) == .byDevice else { return false }
        guard case .passkey(let id) = visit.session.authentication.evidence else { return true }
        let wait = try wait(of: visit.user)
        // check: AccountTests.resumeByPasskey
        guard passkeys.contains(where: { $0.id == id && $0.createdAt.adding(wait) <= since }) else { return false }
        return true
    }
}

/// How a person may confirm a device.
package enum AccountConfirmation: Hashable, Sendable {
    /// By a confirmed device or passkey: at once.
    case byDevice
    /// By an address: where other devices were believed, after the time that a new device waits.
    case byAddress
    /// Not by the way in which they have signed in.
    case refused
}

/// Whether a person may remove one of their addresses.
package enum AddressRemoval: Hashable, Sendable {
    /// Now.
    case now
    /// From a time on, when what they have signed in by, and another address, are old enough.
    case from(Timestamp)
    /// Not as long as they have no other address.
    case never
    /// Not by the way in which they have signed in.
    case tooWeak
}

extension UnitOfWork {
    /// Whether a person may add addresses by what has authenticated them: by the best that they have.
    ///
    /// An address suspends and removes devices and passkeys by itself. So it does not bring in another one where there is
    /// a confirmed one, or one was removed a moment ago.
    ///
    /// Who has neither an address nor anything that a third party could believe adds their first address by a device of
    /// the operator's clients and its PIN or biometric.
    ///
    /// - Parameters:
    ///   - visit: who is at the page.
    ///   - passkeys: the user's passkeys, also those that were removed lately.
    func mayAddAddresses(by visit: AccountVisit, among passkeys: [RegisteredPasskey]) throws -> Bool {
        let authentication = visit.session.authentication
        let devices = try enrollments.active(of: visit.user)
        let hasConfirmed =
            devices.contains(where: \.isConfirmed) || passkeys.contains { $0.isConfirmed && !$0.isForgotten(at: now) }
        switch authentication.evidence {
        case .code:
            // check: AddressTests.weak
            guard try !hasConfirmed && !hasLost(visit.user) else { return false }
            return true
        case .approval, .passkey:
            if try confirmation(by: visit, among: passkeys) == .byDevice { return true }
            // check: AddressTests.tap
            guard authentication.strength >= .twoFactors else { return false }
            let device = devices.first { $0.id == authentication.evidence.enrollment }
            // check: EnrollByJWKTests.account
            guard device?.signsReceipts != false else { return false }
            let (verified, claims) = try identifiers.identifiers(of: visit.user)
            // check: AddressTests.first
            guard verified.isEmpty && !claims.contains(where: { $0.provedAt != nil }) else { return false }
            // check: AddressTests.foreign
            guard try !hasConfirmed && !devices.contains(where: \.isByThirdParty) && !hasLost(visit.user) else {
                return false
            }
            return true
        }
    }

    /// Whether a device of a user was removed a moment ago.
    private func hasLost(_ user: UserID) throws -> Bool { try trustState(of: user, in: nil).leftBehind != nil }

    /// Whether a person may remove each of their addresses by what has authenticated them.
    ///
    /// Whoever reads one mailbox could otherwise lock its owner out, who has two. So another address does not remove one
    /// that is as old as a new device waits, and what does must be as old, as must an address that stays: a thief could
    /// have brought them in a moment ago. What a thief has added goes at once.
    ///
    /// - Parameters:
    ///   - addresses: all that the user has.
    ///   - visit: who is at the page.
    ///   - passkeys: the user's passkeys, also those that were removed lately.
    func removals(
        of addresses: [VerifiedIdentifier], by visit: AccountVisit, among passkeys: [RegisteredPasskey]
    ) throws -> [IdentifierID: AddressRemoval] {
        let authentication = visit.session.authentication
        let wait = try wait(of: visit.user)
        let isStrong = try confirmation(by: visit, among: passkeys) == .byDevice
        // Since when what they have signed in by is there, to remove a younger address, and an older one.
        let there: Timestamp?
        let since: Timestamp?
        switch authentication.evidence {
        case .code(let id, _):
            there = addresses.first { $0.id == id }?.verifiedAt
            since = nil
        case .approval(_, let id):
            let device = try enrollments.find(id)
            there = isStrong || authentication.strength >= .twoFactors ? device?.createdAt : nil
            since = isStrong ? device?.confirmedAt : nil
        case .passkey(let id):
            there = passkeys.first { $0.id == id }?.createdAt
            since = isStrong ? there : nil
        }
        // Clients that a thief has signed in to may make new devices wait longer, but no address younger.
        let youth = min(wait, Client.standardCoolingOff)
        func removal(of identifier: VerifiedIdentifier) -> AddressRemoval {
            if let there, there < identifier.verifiedAt, now < identifier.verifiedAt.adding(youth) { return .now }
            let others = addresses.filter { $0.id != identifier.id }
            guard let oldest = others.map(\.verifiedAt).min() else { return .never }
            let isItself = authentication.evidence == .code(identifier.id, identifier.address.kind)
            guard let since = isItself ? oldest : since else { return .tooWeak }
            let from = max(since, oldest).adding(wait)
            return from <= now ? .now : .from(from)
        }
        return Dictionary(addresses.map { ($0.id, removal(of: $0)) }) { first, _ in first }
    }
}
