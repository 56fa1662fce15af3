package import CountersignWire
package import Encodings

/// Sets, changes or removes the code without which no client's server has the devices of whoever is at the account page
/// asked.
///
/// All addresses that the user has proved are told. The earlier code is not asked for: who has forgotten it sets
/// another.
///
/// Spec: CIBA Core 1.0 §7.1.2; docs/decisions/0097-user-code.md.
package enum ChangeOwnUserCode {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is done.
        case done
        /// The person must sign in, or sign in anew, through the account page's client.
        case signIn
        /// The way in which the person has signed in does not suffice.
        case tooWeak
        /// No client of the user's takes codes, or there is none to remove.
        case nothingThere
    }

    /// Sets a code of whoever has signed in; the other parameters are those of ``ActOnOwnDevice``.
    ///
    /// - Parameter code: the code; nil to remove the one that there is.
    /// - Throws: ``StoreError``.
    package static func set(
        _ code: BackchannelUserCode?, by secret: Secret<String>?, shownTo user: UserID, from place: ContextLine?,
        in language: LanguageTag?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let transports = ports.transports
        return try await ports.commit(at: now, as: .user(user)) { work in
            guard let visit = try work.visitToAct(secret, shownTo: user) else { return .signIn }
            let passkeys = try work.passkeys.passkeys(of: user)
            // check: UserCodeTests.weak
            guard try work.mayChangeUserCode(by: visit, among: passkeys) else { return .tooWeak }
            let had = try work.users.userCode(of: user) != nil
            // check: UserCodeTests.nothingThere
            guard try had || (code != nil && work.bringsUserCodes(for: user)) else { return .nothingThere }
            let hasher = work.hasher
            try work.users.setUserCode(code.map { hasher.hash(hasher.hash(brought: $0), of: user) }, of: user)
            try work.forgetWrongAskingCodes(of: user)
            try work.raise(code == nil ? .userCodeRemoved(user) : .userCodeSet(user))
            let teller = OwnerTeller(client: visit.client, place: place, language: language, transports: transports)
            try work.tell(.userCode(code == nil ? .removed : .set), of: user, at: now, teller)
            return .done
        }
    }
}

extension UnitOfWork {
    /// Whether a person may set or remove their code by what has authenticated them.
    ///
    /// A message to an address alone does not suffice for somebody who has a confirmed device or passkey, or had one a
    /// moment ago: whoever reads one mailbox, by which devices are suspended and removed, would take away what keeps
    /// others from having the person asked, or lock the person out.
    ///
    /// - Parameters:
    ///   - visit: who is at the page.
    ///   - passkeys: the user's passkeys, also those that were removed lately.
    func mayChangeUserCode(by visit: AccountVisit, among passkeys: [RegisteredPasskey]) throws -> Bool {
        guard case .code = visit.session.authentication.evidence else { return true }
        return try mayAddAddresses(by: visit, among: passkeys)
    }

    /// Whether the server of a client that knows a user brings codes.
    func bringsUserCodes(for user: UserID) throws -> Bool {
        let links = try users.find(user)?.links ?? []
        return try links.contains { try relyingParties.find($0.client)?.backchannel?.bringsUserCode == true }
    }
}
