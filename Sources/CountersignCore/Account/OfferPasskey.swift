package import CountersignWire
package import Encodings

/// Offers a passkey to somebody who has just signed in to a client by something else, before they return there.
///
/// It gives nothing that the account page does not give: who may not register a passkey there is offered none, and
/// ``RegisterPasskey`` decides once more. Spec: docs/decisions/0078-passkeys-on-pages.md.
package enum OfferPasskey {
    /// What is offered.
    package struct Offer: Sendable {
        /// The sign-in, which has ended.
        package let signIn: Authorization
        /// Who has signed in.
        package let user: UserID
        /// The addresses that the user has proved, which are told; oldest first.
        package let addresses: [PersonalAddress]
        /// The passkeys that are not removed.
        package let passkeys: [RegisteredPasskey]
        /// How a passkey counts that is registered now.
        package let binding: PasskeyBinding
    }

    /// The offer after a sign-in; nil for none.
    ///
    /// There is none after a passkey, nor after a sign-in to the account page, which offers passkeys itself; where the
    /// client takes no passkeys, or would not believe this one; where the account page would let the session create none;
    /// where the client's maximum age is shorter than the time for which somebody can stay on the page; and after a sign-in
    /// by which something was authorized in detail.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - secret: the session that it has opened; nil for none.
    ///   - browser: what the browser's cookie holds.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func offer(
        after id: AuthorizationID, in secret: Secret<String>?, browser: BrowserID, ports: Ports
    ) async throws -> Offer? {
        try await ports.read(at: ports.time.now, as: .system) { work in
            guard let (found, authentication) = try work.finished(id, in: browser) else { return nil }
            if case .passkey = authentication.evidence { return nil }
            let wanted = found.wanted
            // check: OfferPasskeyTests.browser
            guard wanted.keepsPasskeys else { return nil }
            // check: OfferPasskeyTests.own
            guard !wanted.redirectURI.hasSameBytes(as: work.issuer.accountPage) else { return nil }
            // check: OfferPasskeyTests.age
            guard wanted.maximumAge.map({ $0 >= Authorization.lifetime }) ?? true else { return nil }
            // The client's one code is not given again, and would be lost.
            // check: OfferPasskeyTests.details
            guard wanted.details == nil else { return nil }
            guard let client = try work.clients.find(found.client),
                try work.relyingParties.find(client.id)?.takesPasskeys(at: work.issuer) == true,
                let account = try work.accountClient(), let visit = try work.accountVisit(secret, by: account)
            else { return nil }
            // check: OfferPasskeyTests.others
            guard visit.user == authentication.user else { return nil }
            // check: OfferPasskeyTests.fresh
            guard visit.isFresh(at: work.now) else { return nil }
            let passkeys = try work.passkeys.passkeys(of: visit.user)
            let party = try work.relyingParties.find(account.id)
            guard case .open(let binding) = try work.passkeyOffer(by: visit, at: party, among: passkeys) else {
                return nil
            }
            // check: OfferPasskeyTests.thirdParty
            guard binding.isConfirmed || client.trustGroup == .firstParty else { return nil }
            return Offer(
                signIn: found, user: visit.user,
                addresses: try work.identifiers.verified(of: visit.user).map(\.address),
                passkeys: passkeys.filter(\.isPresent), binding: binding)
        }
    }

    /// A passkey that was registered after a sign-in, with the sign-in; nil if there is none of who is signed in.
    ///
    /// - Parameters:
    ///   - passkey: the passkey.
    ///   - id: the sign-in.
    ///   - secret: the session; nil for none.
    ///   - browser: what the browser's cookie holds.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func made(
        _ passkey: PasskeyID, after id: AuthorizationID, in secret: Secret<String>?, browser: BrowserID, ports: Ports
    ) async throws -> (signIn: Authorization, passkey: RegisteredPasskey)? {
        try await ports.read(at: ports.time.now, as: .system) { work in
            guard let (found, authentication) = try work.finished(id, in: browser), let secret,
                let session = try work.sessions.find(SecretHash(of: secret), at: work.now)
            else { return nil }
            // check: OfferPasskeyTests.others
            guard session.user == authentication.user else { return nil }
            return try work.passkeys.passkeys(of: session.user).first { $0.id == passkey && $0.isPresent }
                .map { (signIn: found, passkey: $0) }
        }
    }
}

extension UnitOfWork {
    /// A sign-in of a browser that has given its client a code, and how its person was authenticated; nil for none.
    fileprivate func finished(
        _ id: AuthorizationID, in browser: BrowserID
    ) throws -> (Authorization, Authentication)? {
        guard let found = try authorizations.find(id), case .granted(let authentication) = found.state,
            now < found.expiresAt
        else { return nil }
        // check: OfferPasskeyTests.others
        guard found.browser == hasher.hash(of: browser, client: found.client) else { return nil }
        return (found, authentication)
    }
}
