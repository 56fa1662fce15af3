package import CountersignWire
package import Encodings

// People add addresses to their account by a code that is sent there, and remove them. Who may is decided in
// AccountVisit.swift.
//
// Spec: OWASP ASVS 7.5.1; docs/decisions/0079-addresses-on-the-account-page.md.

/// Sends a code to an address that a person adds to their account.
///
/// Nothing is written but the message: the code follows from what the page carries sealed.
package enum AskAddressCode {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The code is on its way.
        case sent(Verification)
        /// The person must sign in, or sign in anew, through the account page's client.
        case signIn
        /// The way in which the person has signed in does not suffice.
        case tooWeak
        /// The page sends no codes to such an address.
        case notSent
        /// The person has proved the address already.
        case yours
        /// The person has as many as one may have.
        case full
        /// A code was sent a moment ago; another one can be asked for after some seconds.
        case tooEarly(Verification, retryAfter: Seconds)
        /// Too many codes were sent; try again after some seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// Sends a code.
    ///
    /// - Parameters:
    ///   - address: the address.
    ///   - earlier: what the page carries, where a code was sent before; nil for the first.
    ///   - secret: what the browser's cookie holds; nil for none.
    ///   - user: whom the page was shown to.
    ///   - place: from where it is asked.
    ///   - language: the language of the page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func ask(
        _ address: PersonalAddress, after earlier: Verification?, by secret: Secret<String>?, shownTo user: UserID,
        from place: ContextLine?, in language: LanguageTag?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let made = Verification(id: ports.random.id(at: now), address: address)
        let limits = ports.limits
        let transports = ports.transports
        return try await ports.commit(at: now, as: .user(user)) { work in
            let busy = earlier == nil ? Seconds(0) : Verification.lifetime
            guard let visit = try work.visitToAct(secret, shownTo: user, busy: busy) else { return .signIn }
            let passkeys = try work.passkeys.passkeys(of: user)
            // check: AddressTests.weak
            guard try work.mayAddAddresses(by: visit, among: passkeys) else { return .tooWeak }
            guard let party = try work.relyingParties.find(visit.client.id), party.sends(to: address),
                transports.reach(address)
            else { return .notSent }
            let own = try work.identifiers.verified(of: user)
            let name = work.hasher.identifier(address)
            if own.contains(where: { work.hasher.identifier($0.address) == name }) { return .yours }
            // check: AddressTests.full
            guard own.count < VerifiedIdentifier.maximumCount else { return .full }
            if let earlier, let wait = earlier.wait(at: now) { return .tooEarly(earlier, retryAfter: wait) }
            let asked = try work.count(.addressCodes(of: user))
            // check: AddressTests.often
            guard !asked.isExceeded else { return .tooMany(retryAfter: asked.retryAfter(at: now)) }
            let tries = try work.counted(.addressCodeTries(of: user, for: work.hasher.name(of: address)))
            // check: AddressTests.inARow
            guard !tries.isUsedUp else { return .tooMany(retryAfter: tries.retryAfter(at: now)) }
            let refused = try work.refusal(
                ofCodeTo: address, inOwnBrowser: false, of: visit.client.id, party, limits)
            if let wait = refused { return .tooMany(retryAfter: wait) }
            let message = PersonalMessage.addressCode(
                work.hasher.code(of: made), minutes: Int(Verification.lifetime.value / 60), from: place, in: language)
            try work.outbox.enqueue(
                OutboxMessage(
                    id: work.nextID(), content: .personal(message, to: address, client: visit.client.id), dueAt: now,
                    expiresAt: now.adding(Verification.lifetime)))
            return .sent(made)
        }
    }
}

/// Takes the code that was sent to an address, and makes the address the person's.
package enum EnterAddressCode {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The address is the person's, now or since before.
        case done
        /// The address is another person's, who has proved it.
        case taken
        /// The person has as many as one may have.
        case full
        /// It is not the code that was sent; it can be typed some more times.
        case wrong(triesLeft: Int)
        /// What was sent is no longer good.
        case over
        /// The person must sign in, or sign in anew, through the account page's client.
        case signIn
        /// The way in which the person has signed in does not suffice.
        case tooWeak
    }

    /// Takes a code.
    ///
    /// - Parameters:
    ///   - code: what was typed.
    ///   - sent: what the page carries.
    ///   - secret: what the browser's cookie holds; nil for none.
    ///   - user: whom the page was shown to.
    ///   - place: from where it is done.
    ///   - language: the language of the page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func enter(
        _ code: EntryNumber, of sent: Verification, by secret: Secret<String>?, shownTo user: UserID,
        from place: ContextLine?, in language: LanguageTag?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let transports = ports.transports
        return try await ports.commit(at: now, as: .user(user)) { work in
            guard let visit = try work.visitToAct(secret, shownTo: user, busy: Verification.lifetime) else {
                return .signIn
            }
            let passkeys = try work.passkeys.passkeys(of: user)
            // check: AddressTests.weak
            guard try work.mayAddAddresses(by: visit, among: passkeys) else { return .tooWeak }
            // check: AddressTests.late
            guard now < sent.id.time.adding(Verification.lifetime) else { return .over }
            let typed = try work.count(.typedSignInCodes(sent.id))
            // What is typed beyond the tries must not count against the address.
            // check: AddressTests.tries
            guard !typed.isExceeded else { return .over }
            let tries = try work.count(.addressCodeTries(of: user, for: work.hasher.name(of: sent.address)))
            let refused: Outcome = typed.isUsedUp ? .over : .wrong(triesLeft: typed.left)
            // check: AddressTests.inARow
            guard !tries.isExceeded else { return refused }
            // check: AddressTests.tries
            guard EnterSignInCode.Proof.code(code).isOf(sent, work.hasher) else { return refused }
            let name = work.hasher.identifier(sent.address)
            if let proved = try work.identifiers.verified(name) { return proved.user == user ? .done : .taken }
            // check: AddressTests.replay
            guard try work.identifiers.removed(name, of: user).map({ $0 < sent.id.time }) ?? true else { return .over }
            // check: AddressTests.full
            guard try work.identifiers.verified(of: user).count < VerifiedIdentifier.maximumCount else { return .full }
            // A client that names the address for this person may have enrolled the device by which they are here.
            if try work.confirmation(by: visit, among: passkeys) != .byDevice {
                for claim in try work.identifiers.claims(on: name) where claim.user == user && claim.provedAt == nil {
                    try work.raise(.claimProved(claim))
                }
            }
            let teller = OwnerTeller(client: visit.client, place: place, language: language, transports: transports)
            try work.tell(.address(.added, sent.address), of: user, at: now, teller)
            _ = try work.verify(sent.address, of: user)
            return .done
        }
    }
}

/// Removes an address from an account, with the sessions and tokens that codes to it gave.
///
/// What clients claim of it for the person ends as well, and they can claim it again without making it the person's:
/// whoever reads what is sent there could otherwise sign in at these clients as before.
package enum RemoveOwnAddress {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is removed.
        case done(PersonalAddress)
        /// The person must sign in, or sign in anew, through the account page's client.
        case signIn
        /// The user has no such address.
        case notFound
        /// The person may not remove it, or not yet.
        case refused(AddressRemoval)
    }

    /// Removes an address of whoever has signed in; the parameters are those of ``ActOnOwnDevice``.
    ///
    /// - Throws: ``StoreError``.
    package static func remove(
        _ id: IdentifierID, by secret: Secret<String>?, shownTo user: UserID, from place: ContextLine?,
        in language: LanguageTag?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let transports = ports.transports
        return try await ports.commit(at: now, as: .user(user)) { work in
            guard let visit = try work.visitToAct(secret, shownTo: user) else { return .signIn }
            let own = try work.identifiers.verified(of: user)
            guard let identifier = own.first(where: { $0.id == id }) else { return .notFound }
            let passkeys = try work.passkeys.passkeys(of: user)
            let removal = try work.removals(of: own, by: visit, among: passkeys)[id] ?? .never
            // check: AddressTests.mailbox
            guard removal == .now else { return .refused(removal) }
            let teller = OwnerTeller(client: visit.client, place: place, language: language, transports: transports)
            try work.tell(.address(.removed, identifier.address), of: user, at: now, teller)
            _ = try work.remove(identifier.address, of: user)
            return .done(identifier.address)
        }
    }
}

extension UnitOfWork {
    /// Removes an address of a user, with what clients claim of it for them, what waits, and what codes to it gave.
    ///
    /// - Returns: false if the user has not proved it, and no client claims it for them.
    func remove(_ address: PersonalAddress, of user: UserID) throws -> Bool {
        let name = hasher.identifier(address)
        let own = try identifiers.verified(name).flatMap { $0.user == user ? $0 : nil }
        let claims = try identifiers.claims(on: name).filter { $0.user == user }
        let ids = Set(claims.map(\.id) + [own?.id].compactMap(\.self))
        // check: AdministerSignInTests.others
        guard !ids.isEmpty else { return false }
        for id in ids { try identifiers.delete(id) }
        try identifiers.noteRemoved(name, of: user, at: now)
        // What waits was perhaps brought in by the address alone.
        for device in try enrollments.active(of: user) { try stopConfirming(device) }
        for passkey in try passkeys.passkeys(of: user) where passkey.isPresent && !passkey.counts(at: now) {
            try remove(passkey)
        }
        try endAccess(of: user) { evidence in
            if case .code(let id, _) = evidence { ids.contains(id) } else { false }
        }
        if let removed = own ?? claims.lazy.compactMap(\.proved).first {
            try raise(.identifierRemoved(removed))
        } else {
            for claim in claims { try raise(.claimEnded(claim)) }
        }
        return true
    }
}
