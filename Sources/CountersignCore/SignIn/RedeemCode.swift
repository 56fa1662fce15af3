package import CountersignWire
import Crypto
package import Encodings

/// Exchanges an authorization code for tokens.
///
/// Spec: RFC 6749 §4.1.3, RFC 7636 §4.6, OpenID Connect Core 1.0 §3.1.3.
package enum RedeemCode {
    /// What a client sends.
    package struct Request: Sendable {
        /// The code.
        package let code: Secret<String>
        /// The redirect URI of the authorization request; nil if the client sent none.
        package let redirectURI: String?
        /// The code verifier of PKCE; nil if the client sent none.
        package let verifier: Secret<String>?
        /// The resource that the access token is for; none for the one API that was given or, if there was none, for
        /// us.
        package let resources: [String]
        /// The key that the client has proved to have; nil for none.
        package let key: ProvedKey?
        /// Whether it is Cotter's call.
        package let isCotter: Bool

        /// A request of these parts.
        package init(
            code: Secret<String>, redirectURI: String?, verifier: Secret<String>?, resources: [String] = [],
            key: ProvedKey? = nil, isCotter: Bool = false
        ) {
            self.code = code
            self.redirectURI = redirectURI
            self.verifier = verifier
            self.resources = resources
            self.key = key
            self.isCotter = isCotter
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client gets tokens.
        case redeemed(UnsignedTokens)
        /// The code is unknown, another client's, over or spent, or the request does not fit it.
        case invalid
        /// The request names an API that the person was not asked for, or several, or none where there were several; or
        /// the client gets no tokens for the API any more.
        case unknownResource
        /// The client must prove a key, or its proof came before.
        case unproved(KeyProofRefusal)
        /// The client is disabled, or uses the provider no more.
        case clientGone
    }

    /// Redeems a code for its client, which the caller has authenticated.
    ///
    /// A code that comes twice ends what it gave: somebody else has had it.
    ///
    /// - Throws: ``StoreError``.
    package static func redeem(_ request: Request, by client: ClientID, ports: Ports) async throws -> Outcome {
        let keys = try ports.keys.current().tokens
        let now = ports.time.now
        let id: TokenFamilyID = ports.random.id(at: now)
        let sid = Base64URL.encode(ports.random.bytes(16))
        let hash = SecretHash(of: request.code)
        return try await ports.commit(at: now, as: .client(client)) { work in
            guard let (found, party) = try work.clients.lockWithParty(client), found.disabledAt == nil
            else { return .clientGone }
            try keys.require(party.idTokenAlgorithm)
            // Spec: RFC 9449 §5.2.
            // check: StrictClientTests.holderOfKey
            guard request.key != nil || !party.bindsTokens else { return .unproved(.missing) }
            guard let (code, authorization) = try work.authorizations.find(hash) else { return .invalid }
            // check: RedeemCodeTests.refused
            guard authorization.client == client else { return .invalid }
            // check: RedeemCodeTests.twice
            guard code.spentAt == nil else { return try work.endFamily(of: authorization.id) }
            let wanted = authorization.wanted
            // check: StrictClientTests.codes
            guard now < code.expiresAt else { return .invalid }
            // check: RedeemCodeTests.refused
            guard request.fits(wanted) else { return .invalid }
            // Spec: FAPI 2.0 Security Profile §5.3.2.2.
            // check: StrictProfileTests.before
            guard party.takes(begunStrict: wanted.isStrict) else { return .invalid }
            guard case .granted(let authentication) = authorization.state else { return .invalid }
            // Nothing of the user changes before the tokens are written: whoever ends the session ends them too.
            try work.users.lock(authentication.user)
            // check: SessionTests.ended
            guard try work.sessions.isOpen(code.session, at: now) else { return .invalid }
            // The device may have been removed since the code was given, or the user deleted.
            // check: SessionTests.removedAddressOfCode
            guard try work.isGood(authentication, at: client) else { return .invalid }
            // The address may have been taken away since the code was given.
            let proved = try work.provedAddress(wanted, by: authentication)
            // check: CotterIdentityTests.takenAway
            guard wanted.cotter == nil || proved != nil else { return .invalid }
            let scopes = try work.given(wanted.scopes, by: authentication, at: client)
            let target = try work.stores.target(
                request.resources, of: scopes, at: wanted.resources, for: party, issuer: work.issuer)
            // The code stays good: the request is a developer's mistake, and gives nothing.
            guard let target else { return .unknownResource }
            // check: BoundTokenTests.replayed
            guard try work.spend(request.key) else { return .unproved(.replayed) }
            guard try work.authorizations.markSpent(hash, at: now) else {
                return try work.endFamily(of: authorization.id)
            }
            guard try work.authorizations.advance(authorization.id, to: .redeemed(authentication, id), at: now) else {
                return .invalid
            }
            // Who gets no ID token learns no name of the session, and is told of nothing.
            let name =
                scopes.contains(TokenFamily.openID)
                ? try work.sessions.sid(of: code.session, for: client, new: sid) : nil
            let family = TokenFamily(
                id: id, client: client, session: code.session, sid: name, scopes: scopes,
                resources: wanted.resources, authentication: authentication,
                boundTo: request.key?.thumbprint, at: now,
                sealedDetails: try work.hasher.sealed(wanted.details, for: id))
            try work.families.insert(family)
            try work.raise(.tokensGiven(family))
            return .redeemed(
                UnsignedTokens(
                    family: family, target: target, isIdentified: family.scopes.contains(TokenFamily.openID),
                    nonce: wanted.nonce, party: party, keyThumbprint: request.key?.thumbprint, proved: proved))
        }
    }
}

extension UnitOfWork {
    /// The scopes that a client gets for a sign-in: without the one that enrolls a device, if the sign-in may not.
    fileprivate func given(
        _ scopes: [String], by authentication: Authentication, at client: ClientID
    ) throws -> [String] {
        guard scopes.contains(Ticket.scope), try !mayEnroll(by: authentication, at: client) else { return scopes }
        return scopes.filter { $0 != Ticket.scope }
    }

    /// What the client learns of the address that the person has proved; nil where it has not asked for one, or there is
    /// none.
    fileprivate func provedAddress(
        _ wanted: Wanted, by authentication: Authentication
    ) throws -> ProvedAddress? {
        guard let kind = wanted.cotter,
            let identifier = try stores.proved(kind, by: authentication, for: wanted, hasher)
        else { return nil }
        return ProvedAddress(identifier: identifier, userAgent: wanted.askedFrom?.userAgent)
    }

    /// Ends the tokens of a code that came again.
    fileprivate func endFamily(of authorization: AuthorizationID) throws -> RedeemCode.Outcome {
        if let found = try authorizations.find(authorization), case .redeemed(let who, let family) = found.state {
            try endFamilies(.family(family, of: who.user, at: found.client), because: .codeReused)
        }
        return .invalid
    }
}

extension RedeemCode.Request {
    /// Whether the request has the redirect URI, the verifier and the key of the authorization request.
    ///
    /// A verifier without a challenge is refused as well: somebody may have taken the challenge away. Spec: RFC 9700
    /// §4.8.2.
    fileprivate func fits(_ wanted: Wanted) -> Bool {
        // check: RedeemCodeTests.refused
        guard redirectURI?.hasSameBytes(as: wanted.redirectURI) == true else { return false }
        // A code is good at the call whose form its client has asked in, and at no other.
        // check: CotterIdentityTests.otherCall
        guard isCotter == (wanted.cotter != nil) else { return false }
        // Spec: RFC 9449 §10.
        // check: StrictClientTests.boundCodes
        guard wanted.keyThumbprint == nil || wanted.keyThumbprint == key?.thumbprint else { return false }
        guard let challenge = wanted.codeChallenge else {
            // check: RedeemCodeTests.downgrade
            guard verifier == nil else { return false }
            return true
        }
        guard let verifier else { return false }
        // check: RedeemCodeTests.verifiers
        guard isVerifier(verifier.reveal()) else { return false }
        let digest = Base64URL.encode(Array(SHA256.hash(data: Array(verifier.reveal().utf8))))
        // check: RedeemCodeTests.refused
        guard constantTimeEqual(Array(digest.utf8), Array(challenge.utf8)) else { return false }
        return true
    }

    /// Whether a text can be a verifier; Cotter's SDK for React Native takes base64, with other letters.
    ///
    /// Spec: RFC 7636 §4.1.
    private func isVerifier(_ text: String) -> Bool {
        let others = Array("+/=".utf8)
        return (43...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isUnreserved || isCotter && others.contains($0) }
    }
}
