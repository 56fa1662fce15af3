package import CountersignWire
import Encodings

// All rules on what a person may do on their account page are in this file.
//
// Spec: docs/decisions/0077-account-page.md.

extension Issuer {
    /// The page on which people see and end what they allowed: a redirect URI of the client through which they sign in
    /// to it.
    package var accountPage: String { "\(self)/account" }
}

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
    /// The client through which people sign in to their account page; nil if there is none.
    func accountClient() throws -> Client? { try relyingParties.account().flatMap { try clients.find($0) } }

    /// Who is at the account page; nil if the browser has no session that is good there.
    func accountVisit(_ secret: Secret<String>?, by client: Client) throws -> AccountVisit? {
        guard let secret, let session = try sessions.find(SecretHash(of: secret), at: now),
            try isGood(session.authentication.evidence, session.user, at: client.id)
        else { return nil }
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
        guard let visit = try accountVisit(secret, by: client), visit.user == user else { return nil }
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

/// How a person may confirm a device.
package enum AccountConfirmation: Hashable, Sendable {
    /// By a confirmed device or passkey: at once.
    case byDevice
    /// By an address: where other devices were believed, after the time that a new device waits.
    case byAddress
    /// Not by the way in which they have signed in.
    case refused
}
