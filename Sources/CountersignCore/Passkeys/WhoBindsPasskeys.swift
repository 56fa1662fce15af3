package import CountersignWire

// All rules on which passkeys count, and where, are in this file. A passkey signs in for years, so that whoever registers
// one for somebody else has more than a session. It needs what a further device needs.
//
// Spec: docs/decisions/0078-passkeys-on-pages.md.

extension RegisteredPasskey {
    /// Whether it signs its user in; one that does not wait does so as soon as it is there, as a device does.
    package func counts(at now: Timestamp) -> Bool { isPresent && countsFrom <= max(now, createdAt) }

    /// Whether it makes further ones wait: because it counts, or counted and was removed a moment ago.
    func guards(at now: Timestamp) -> Bool { removedUntil.map { now < $0 } ?? counts(at: now) }

    /// Whether it was removed so long ago that it guards nothing any more.
    func isForgotten(at now: Timestamp) -> Bool { removedUntil.map { $0 <= now } ?? false }

    /// Whether it counts for the clients of a group.
    func isBelieved(in group: TrustGroup) -> Bool { isConfirmed || group == .firstParty }
}

extension [RegisteredPasskey] {
    /// Whether all clients believe one of them.
    func isConfirmed(_ id: PasskeyID) -> Bool { contains { $0.id == id && $0.isPresent && $0.isConfirmed } }
}

/// How a passkey counts that is registered now.
package struct PasskeyBinding: Hashable, Sendable {
    /// From when it signs its user in.
    package let countsFrom: Timestamp
    /// Whether all clients believe it.
    package let isConfirmed: Bool
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
        case .approval(_, let id):
            let isTap = authentication.strength < .twoFactors
            // check: PasskeyTests.guarded
            guard try !isTap || !trustState(of: user, in: .firstParty).isGuarded() else { return nil }
            // A device that signs nothing of what it shows brings in nothing that signs in.
            guard let device = try enrollments.find(id), device.signsReceipts else { return nil }
            let wait = try wait(of: user)
            let isYoung = isYoung(device, beside: passkeys, wait)
            // A passkey is stronger than the tap that brings it in. Spec: docs/decisions/0046-approval-of-devices.md.
            var times = isTap ? [now.adding(wait)] : []
            if isYoung { times.append(device.countsFrom.adding(wait)) }
            return PasskeyBinding(
                countsFrom: times.max() ?? now,
                isConfirmed: try !isYoung && confirms(device.id, isTap: isTap, of: user))
        case .passkey(let id):
            return PasskeyBinding(countsFrom: now, isConfirmed: passkeys.isConfirmed(id))
        case .code:
            let times = try [
                trustState(of: user, in: .firstParty).newEnrollmentCounts, passkeyWait(of: user, among: passkeys),
            ].compactMap(\.self)
            let isFirst = try times.isEmpty && trustState(of: user, in: nil).newEnrollmentCounts == nil
            return PasskeyBinding(countsFrom: times.max() ?? now, isConfirmed: isFirst)
        }
    }

    /// From when what an address brings in counts, beside passkeys or in the place of some that were removed a moment
    /// ago; nil where there are none.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - passkeys: the user's passkeys, also those that were removed lately.
    func passkeyWait(of user: UserID, among passkeys: [RegisteredPasskey]) throws -> Timestamp? {
        let guarding = passkeys.filter { $0.guards(at: now) }
        guard !guarding.isEmpty else { return nil }
        return guarding.compactMap(\.removedUntil).reduce(now.adding(try wait(of: user)), max)
    }

    /// Whether a device says no more than an address does: it came after a passkey, perhaps by an address alone, and not
    /// even the time that a new device waits has gone by since.
    private func isYoung(_ device: Enrollment, beside passkeys: [RegisteredPasskey], _ wait: Seconds) -> Bool {
        !device.isConfirmed && now < device.countsFrom.adding(wait)
            && passkeys.contains { $0.guards(at: now) && $0.createdAt < device.countsFrom }
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
