package import CountersignWire
package import Encodings

/// Gives a client new tokens for a refresh token.
///
/// Spec: RFC 6749 §6, OpenID Connect Core 1.0 §12, RFC 9700 §4.14.2.
package enum RefreshTokens {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client gets tokens.
        case refreshed(UnsignedTokens)
        /// The token is not ours, another client's, over, or was replaced.
        case invalid
        /// The client wants a scope that it was not given.
        case scopeExceeded
        /// The token would be for an API, and the client names none of the scopes that it was given there.
        case nothing(at: ResourceIdentifier)
        /// The client names an API that it was not given, or several, or none and was given several; or it gets no
        /// tokens for the API any more.
        case unknownResource
        /// The client must prove a key, or its proof came before.
        case unproved(KeyProofRefusal)
        /// The client is disabled, or uses the provider no more.
        case clientGone
    }

    /// Refreshes.
    ///
    /// The refresh token of an app is replaced each time, since the app cannot prove who it is. The one before it may
    /// come again for a short time, until the new one is used: then its reply was lost, or two requests came at once,
    /// and both get the same successor. Any older one ends the family: somebody else has had it. A client that proves
    /// who it is keeps its token, unless its settings say otherwise, and so does an app whose token is bound to a key.
    ///
    /// - Parameters:
    ///   - token: the refresh token.
    ///   - scopes: the scopes that the client wants now; nil for those that it was given.
    ///   - resources: the resource that the access token is for; none for the one API that was given or, if there was
    ///     none, for us.
    ///   - client: the client, which the caller has authenticated.
    ///   - key: the key that the client has proved to have; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func refresh(
        _ token: Secret<String>, scopes: [String]?, at resources: [String] = [], by client: ClientID,
        with key: ProvedKey? = nil, ports: Ports
    ) async throws -> Outcome {
        guard let (id, generation) = ports.hasher.refreshToken(token) else { return .invalid }
        let now = ports.time.now
        let keys = try ports.keys.current().tokens
        let outcome: Outcome = try await ports.commit(at: now, as: .client(client)) { work in
            guard let (found, party) = try work.clients.lockWithParty(client), found.disabledAt == nil
            else { return .clientGone }
            try keys.require(party.idTokenAlgorithm)
            // check: StrictClientTests.holderOfKey
            guard key != nil || !party.bindsTokens else { return .unproved(.missing) }
            guard let family = try work.families.find(id), family.isOffline else { return .invalid }
            // check: RefreshTokensTests.refused
            guard family.client == client else { return .invalid }
            // check: RefreshTokensTests.ends
            guard family.isActive(at: now) else { return .invalid }
            // Before anything ends: whoever has copied a token without its key ends nothing by it.
            // check: BoundTokenTests.keySwap
            guard family.isShown(by: key, of: party) else { return .invalid }
            // Also while the device is suspended: who copied the token has it still when the device comes back.
            // check: RefreshTokensTests.reuse
            guard family.accepts(generation, within: party.refreshGrace, at: now) else {
                try work.endFamilies(
                    .family(family.id, of: family.user, at: client), because: .refreshReused)
                return .invalid
            }
            // A suspended device may come back, and with it the tokens.
            // check: SignInTests.suspended
            guard try work.isGood(family.authentication, at: client) else { return .invalid }
            // check: RefreshTokensTests.same
            guard scopes?.allSatisfy(family.allScopes.contains) ?? true else { return .scopeExceeded }
            let whole = try work.stores.target(
                resources, of: family.scopes, at: family.resources, for: party, issuer: work.issuer)
            guard let whole else { return .unknownResource }
            let target = AccessTarget(
                resource: whole.resource, scopes: whole.scopes.filter { scopes?.contains($0) ?? true })
            if let resource = target.resource {
                // An API might take a token without a scope for one that may do all.
                // check: ResourceTests.several
                guard !target.scopes.isEmpty else { return .nothing(at: resource) }
            }
            // check: BoundTokenTests.replayed
            guard try work.spend(key) else { return .unproved(.replayed) }
            let current = try work.current(family, showing: generation, of: party)
            return .refreshed(
                UnsignedTokens(
                    family: current, target: target,
                    isIdentified: (scopes ?? family.scopes).contains(TokenFamily.openID), nonce: nil, party: party,
                    keyThumbprint: key?.thumbprint))
        }
        if case .refreshed = outcome { ports.tokenCounts.noteRefresh() }
        return outcome
    }
}

extension UnitOfWork {
    /// The family with the refresh token that is good from now on, for one that it accepts.
    fileprivate func current(
        _ family: TokenFamily, showing generation: Int64, of party: RelyingParty
    ) throws -> TokenFamily {
        // The reply with the next one was lost.
        guard generation == family.generation else { return family }
        let idleUntil = min(family.expiresAt, now.adding(TokenLifetimes.refreshIdle))
        // A token that only the holder of a key can use needs no successor, and FAPI 2.0 wants none. Spec: RFC 9700
        // §2.2.2.
        let isReplaced = party.rotatesAlways || party.rotates && family.keyThumbprint == nil
        let next = isReplaced ? generation + 1 : generation
        guard
            try families.refresh(
                family, to: next, rotatedAt: isReplaced ? now : family.rotatedAt, idleUntil: idleUntil),
            let refreshed = try families.find(family.id)
        else { throw StoreError.serializationFailure }
        return refreshed
    }
}

extension TokenFamily {
    /// The scopes that it was given, here and at APIs.
    fileprivate var allScopes: [String] { scopes + resources.flatMap(\.scopes) }
}
