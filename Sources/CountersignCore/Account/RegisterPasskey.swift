package import CountersignWire
package import Encodings
import WebAuthn

/// Registers a passkey for whoever is at the account page.
///
/// It needs a sign-in of the last ten minutes: five as for an act on a device, and five with the browser. All addresses
/// that the user has proved are told, and the clients that believe it. Spec: NIST SP 800-63B-4 §4.1.2;
/// docs/decisions/0078-passkeys-on-pages.md.
package enum RegisterPasskey {
    /// How long the person may be busy with the browser after the page was shown.
    private static let ceremony = Seconds.minutes(5)

    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The passkey is registered.
        case done(RegisteredPasskey)
        /// The person must sign in, or sign in anew, through the account page's client.
        case signIn
        /// The way in which the person has signed in does not suffice.
        case tooWeak
        /// The user has as many as one may have.
        case full
        /// What the browser sent is not the answer to this page, or was sent before; or the page takes no passkeys.
        case refused
        /// The user has registered too many; try again after some seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// Registers a passkey.
    ///
    /// - Parameters:
    ///   - response: what the browser sent.
    ///   - ceremony: the ceremony of the page.
    ///   - name: what it is called at first.
    ///   - secret: what the browser's cookie holds; nil for none.
    ///   - user: whom the page was shown to.
    ///   - place: from where it is done.
    ///   - language: the language of the page.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func register(
        _ response: JSONValue, in ceremony: PasskeyCeremony, named name: DisplayLine, by secret: Secret<String>?,
        shownTo user: UserID, from place: ContextLine?, in language: LanguageTag?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let transports = ports.transports
        guard let verified = try? ceremony.verify(RegistrationResponse(response)) else { return .refused }
        let id: PasskeyID = ports.random.id(at: now)
        return try await ports.commit(at: now, as: .user(user)) { work in
            guard let visit = try work.visitToAct(secret, shownTo: user, busy: Self.ceremony) else { return .signIn }
            let binding: PasskeyBinding
            switch try work.passkeyOffer(
                by: visit, at: try work.relyingParties.find(visit.client.id),
                among: try work.passkeys.passkeys(of: user))
            {
            case .off: return .refused
            case .tooWeak: return .tooWeak
            case .full: return .full
            case .open(let found): binding = found
            }
            let count = try work.count(.passkeys(of: user))
            // check: PasskeyTests.often
            guard !count.isExceeded else { return .tooMany(retryAfter: count.retryAfter(at: now)) }
            // check: PasskeyTests.replay
            guard try ceremony.spend(in: work) else { return .refused }
            let passkey = RegisteredPasskey(
                id: id, user: user, credential: verified.credentialID, publicKey: verified.publicKey,
                transports: verified.transports, isBackupEligible: verified.isBackupEligible,
                isBackedUp: verified.isBackedUp, signCount: verified.signCount, name: name, createdAt: now,
                countsFrom: binding.countsFrom, isConfirmed: binding.isConfirmed)
            // Spec: WebAuthn Level 3 §7.1, step 26.
            // check: PasskeyTests.others
            guard try work.passkeys.insert(passkey) else { return .refused }
            try work.raise(.passkeyCreated(passkey))
            let teller = OwnerTeller(client: visit.client, place: place, language: language, transports: transports)
            try work.tell(
                .passkey(passkey.counts(at: now) ? .created : .waiting, name), of: user, at: passkey.countsFrom, teller)
            return .done(passkey)
        }
    }
}

/// Renames or removes a passkey, by its user on the account page.
///
/// Removing needs any one way to sign in, as removing a device does.
package enum ActOnOwnPasskey {
    /// What is done.
    package enum Act: Sendable {
        /// It is called this from now on.
        case rename(DisplayLine)
        /// It is removed for ever.
        case remove
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is done; the name is that of the passkey.
        case done(DisplayLine)
        /// The person must sign in, or sign in anew, through the account page's client.
        case signIn
        /// The user has no such passkey.
        case notFound
    }

    /// Acts on a passkey of whoever has signed in; the parameters are those of ``ActOnOwnDevice``.
    ///
    /// - Throws: ``StoreError``.
    package static func act(
        _ act: Act, on id: PasskeyID, by secret: Secret<String>?, shownTo user: UserID, from place: ContextLine?,
        in language: LanguageTag?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let transports = ports.transports
        return try await ports.commit(at: now, as: .user(user)) { work in
            guard let visit = try work.visitToAct(secret, shownTo: user) else { return .signIn }
            guard let passkey = try work.passkeys.find(id) else { return .notFound }
            // check: PasskeyTests.others
            guard passkey.user == user else { return .notFound }
            switch act {
            case .rename(let name):
                try work.passkeys.rename(id, name)
                return .done(name)
            case .remove:
                try work.remove(passkey)
                let teller = OwnerTeller(client: visit.client, place: place, language: language, transports: transports)
                try work.tell(.passkey(.removed, passkey.name), of: user, at: now, teller)
                return .done(passkey.name)
            }
        }
    }
}

extension UnitOfWork {
    /// Removes a passkey, with the sessions and tokens that it gave.
    ///
    /// It makes those that an address brings in wait, as long as a new device would.
    func remove(_ passkey: RegisteredPasskey) throws {
        try passkeys.remove(passkey.id, until: now.adding(passkey.counts(at: now) ? try wait(of: passkey.user) : 0))
        try endAccess(of: passkey.user) { $0 == .passkey(passkey.id) }
        try raise(.passkeyRemoved(passkey))
    }
}
