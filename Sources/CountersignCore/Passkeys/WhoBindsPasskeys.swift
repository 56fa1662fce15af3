package import CountersignWire

// All rules on which passkeys count, and where, are in this file. A passkey signs in for years, so that whoever registers
// one for somebody else has more than a session: it needs what a further device needs.
//
// Spec: docs/decisions/0078-passkeys-on-pages.md.

extension RegisteredPasskey {
    /// Whether it signs its user in.
    package func counts(at now: Timestamp) -> Bool { isPresent && countsFrom <= now }

    /// Whether it makes further ones wait: because it counts, or counted and was removed a moment ago.
    fileprivate func guards(at now: Timestamp) -> Bool { removedUntil.map { now < $0 } ?? counts(at: now) }

    /// Whether it counts for the clients of a group.
    func isBelieved(in group: TrustGroup) -> Bool { isConfirmed || group == .firstParty }
}

/// How a passkey counts that is registered now.
struct PasskeyBinding: Equatable, Sendable {
    /// From when it signs its user in.
    let countsFrom: Timestamp
    /// Whether all clients believe it.
    let isConfirmed: Bool
}

extension UnitOfWork {
    /// How a passkey counts that whoever has signed in so registers now; nil if that way of signing in does not suffice.
    ///
    /// The caller has locked the user's row, if it decides by it.
    ///
    /// - Parameters:
    ///   - authentication: how the person has signed in; it is still good for the operator's clients.
    ///   - passkeys: the user's passkeys, also those that were removed lately.
    func passkeyBinding(
        by authentication: Authentication, among passkeys: [RegisteredPasskey]
    ) throws -> PasskeyBinding? {
        let user = authentication.user
        switch authentication.evidence {
        case .approval(_, let device):
            let isTap = authentication.strength < .twoFactors
            // check: PasskeyTests.tap
            guard try !isTap || !trustState(of: user, in: .firstParty).isGuarded() else { return nil }
            return PasskeyBinding(countsFrom: now, isConfirmed: try confirms(device, isTap: isTap, of: user))
        case .passkey(let id):
            return PasskeyBinding(
                countsFrom: now, isConfirmed: passkeys.contains { $0.id == id && $0.isPresent && $0.isConfirmed })
        case .code:
            // An address alone brings nothing in before the wait, neither beside devices and passkeys nor in the place
            // of some that were removed a moment ago.
            let earlier = passkeys.filter { $0.guards(at: now) }
            var times = earlier.map { $0.removedUntil ?? now }
            if !earlier.isEmpty { times.append(now.adding(try wait(of: user))) }
            if let time = try trustState(of: user, in: .firstParty).newEnrollmentCounts { times.append(time) }
            let isFirst = try times.isEmpty && trustState(of: user, in: nil).newEnrollmentCounts == nil
            return PasskeyBinding(countsFrom: times.max() ?? now, isConfirmed: isFirst)
        }
    }
}

extension Authentication {
    /// The authentication by a passkey, whose authenticator has verified who its user is.
    ///
    /// Spec: docs/decisions/0078-passkeys-on-pages.md; RFC 8176 §2 (`hwk`, `swk`, `user`, `pop`); OpenID Connect EAP ACR
    /// Values 1.0 (`phr`, `phrh`).
    init(by passkey: RegisteredPasskey, at now: Timestamp) {
        let isBound = !passkey.isBackupEligible
        self.init(
            user: passkey.user, at: now, methods: [isBound ? "hwk" : "swk", "user", "pop"],
            strength: isBound ? .hardwareBound : .phishingResistant, evidence: .passkey(passkey.id))
    }
}
