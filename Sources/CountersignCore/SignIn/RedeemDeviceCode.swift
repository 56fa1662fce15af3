package import CountersignWire
package import Encodings

/// Gives a device its tokens as soon as its person has agreed.
///
/// Spec: RFC 8628 §3.4, §3.5.
package enum RedeemDeviceCode {
    /// What a device sends.
    package struct Request: Sendable {
        /// Its code.
        package let code: Secret<String>
        /// The resource that the access token is for; none for the one API that was asked for or, if there was none,
        /// for us.
        package let resources: [String]
        /// The client, which the caller has authenticated.
        package let client: ClientID
        /// The key that the client has proved to have; nil for none.
        package let key: ProvedKey?

        /// A request of these parts.
        package init(code: Secret<String>, resources: [String] = [], by client: ClientID, with key: ProvedKey? = nil) {
            self.code = code
            self.resources = resources
            self.client = client
            self.key = key
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client gets tokens.
        case redeemed(UnsignedTokens)
        /// Nobody has decided yet; the device asks again after the interval.
        case pending(interval: Seconds)
        /// The device polls too fast, and must pause longer from now on.
        case slowDown(interval: Seconds)
        /// Nobody has agreed in time.
        case expired
        /// The person has declined, or the client has given up.
        case denied
        /// The code is unknown, another client's or spent, or what the person has agreed by is no longer good.
        case invalid
        /// The request names an API that was not asked for, or several, or none where there were several.
        case unknownResource
        /// The client binds all tokens to a key and has proved none, or the proof came before; the code stays good.
        case unproved(KeyProofRefusal)
        /// The client is disabled, or has no device grant any more.
        case clientGone
    }

    /// Looks once whether the device gets its tokens.
    ///
    /// A code that comes again ends what it gave: somebody else has had it.
    ///
    /// - Throws: ``StoreError``.
    package static func redeem(_ request: Request, ports: Ports) async throws -> Outcome {
        guard let id = ports.hasher.signIn(ofDeviceCode: request.code) else { return .invalid }
        return try await look(at: id, for: request, isPoll: true, ports: ports)
    }

    /// Waits until somebody has decided, or until a deadline, after a look that has found nothing.
    ///
    /// It ends nothing: of several requests that wait, one gets the tokens.
    ///
    /// - Throws: `CancellationError` when the wait is interrupted; ``StoreError``.
    package static func redeem(
        _ request: Request, waitingUntil deadline: Timestamp, changes: any ChangeNotifier, ports: Ports
    ) async throws -> Outcome {
        guard let id = ports.hasher.signIn(ofDeviceCode: request.code) else { return .invalid }
        // Subscribed before the first look: a change in between is not missed.
        let subscription = changes.subscribe(to: .authorization(id))
        let over = try await ports.store.read { try $0.authorizations.find(id)?.expiresAt } ?? deadline
        while true {
            let outcome = try await look(at: id, for: request, isPoll: false, ports: ports)
            guard case .pending = outcome, ports.time.now < deadline else { return outcome }
            try await subscription.wait(until: min(deadline, over))
        }
    }

    /// How a sign-in stands for a device.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - request: what the device has sent.
    ///   - isPoll: whether this is the first look of a request, which must not come too soon, and by which a spent code
    ///     comes again.
    ///   - ports: the external dependencies.
    private static func look(
        at id: AuthorizationID, for request: Request, isPoll: Bool, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let (found, isServed) = try await ports.store.read { reader in
            let client = try reader.clients.find(request.client)
            let grant = try reader.relyingParties.find(request.client)?.deviceGrant ?? .off
            let isServed = client.map { $0.disabledAt == nil } == true && grant != .off
            return (try reader.authorizations.find(id), isServed)
        }
        guard isServed else { return .clientGone }
        guard let found, found.wanted.device != nil else { return .invalid }
        // check: DeviceCodeTests.otherClient
        guard found.client == request.client else { return .invalid }
        let pace = ports.devicePolls.pace(of: id, by: request.client)
        switch found.state {
        case .refused: return .denied
        case .redeemed where isPoll: return try await endTokens(of: id, request.client, at: now, ports)
        case .granted, .redeemed: return .invalid
        case .open, .authenticated: break
        }
        // check: DeviceCodeTests.expires
        guard now < found.expiresAt else { return .expired }
        if isPoll, pace.isTooFast(at: now) { return .slowDown(interval: pace.interval) }
        if found.state == .open { return .pending(interval: pace.interval) }
        return try await conclude(id, for: request, at: now, ports)
    }

    /// Gives the tokens, of several requests to one.
    private static func conclude(
        _ id: AuthorizationID, for request: Request, at now: Timestamp, _ ports: Ports
    ) async throws -> Outcome {
        let keys = try ports.keys.current().tokens
        let family: TokenFamilyID = ports.random.id(at: now)
        let client = request.client
        let transports = ports.transports
        return try await ports.commit(at: now, as: .client(client)) { work in
            guard let found = try work.clients.lock(client), found.disabledAt == nil,
                let party = try work.relyingParties.lock(client), party.deviceGrant != .off
            else { return .clientGone }
            // check: DeviceCodeTests.unproved
            guard request.key != nil || !party.bindsTokens else { return .unproved(.missing) }
            try keys.require(party.profile.idTokenAlgorithm)
            guard let authorization = try work.authorizations.find(id),
                case .authenticated(let authentication) = authorization.state
            else { return .invalid }
            // check: DeviceCodeTests.replayed
            guard try work.spend(request.key) else { return .unproved(.replayed) }
            let wanted = authorization.wanted
            // Nothing of the user changes before the tokens are written.
            try work.users.lock(authentication.user)
            // Whoever ends a session ends what has been allowed in it and not been given.
            if let session = wanted.device?.session {
                let lasts = try work.sessions.find(session, at: now) != nil
                // check: DeviceConfirmTests.sessionEnded
                guard lasts else { return .invalid }
            }
            // The device that approved may have been removed since, or the user unlinked.
            // check: DeviceCodeTests.ended
            guard try work.admits(authentication, to: client),
                try work.isGood(authentication.evidence, authentication.user, at: client)
            else { return .invalid }
            let needsConsent = try work.needsConsent(of: authentication.user, to: wanted, by: found)
            // Whoever was asked by name alone has seen no page on which they would allow it.
            // check: DeviceCodeTests.thirdParty
            guard !needsConsent || wanted.device?.allowedBy == authentication.user else { return .invalid }
            let scopes = wanted.scopes.filter { !BeginDeviceGrant.neverGiven.contains($0) }
            let target = try work.stores.target(
                request.resources, of: scopes, at: wanted.resources, for: party, issuer: work.issuer)
            // The code stays good: the request is a developer's mistake, and gives nothing.
            guard let target else { return .unknownResource }
            guard try work.admit(authentication.user, to: client) else { return .invalid }
            guard try work.authorizations.advance(id, to: .granted(authentication), at: now),
                try work.authorizations.advance(id, to: .redeemed(authentication, family), at: now)
            else { throw StoreError.serializationFailure }
            if needsConsent { try work.give(wanted, by: authentication.user) }
            let given = TokenFamily(
                id: family, client: client, session: nil, sid: nil, scopes: scopes, resources: wanted.resources,
                authentication: authentication, boundTo: request.key, at: now, isDeviceGrant: true)
            try work.families.insert(given)
            try work.tellOfDeviceGrant(authorization, authentication, by: transports)
            try work.raise(.signedIn(authorization, authentication, isFresh: true))
            try work.raise(.tokensGiven(given))
            work.notify(.authorization(id))
            return .redeemed(
                UnsignedTokens(
                    family: given, target: target, isIdentified: scopes.contains(TokenFamily.openID), nonce: nil,
                    party: party, keyThumbprint: request.key?.thumbprint))
        }
    }

    /// Ends the tokens of a code that came again.
    ///
    /// Spec: RFC 6749 §10.5.
    private static func endTokens(
        of id: AuthorizationID, _ client: ClientID, at now: Timestamp, _ ports: Ports
    ) async throws -> Outcome {
        try await ports.commit(at: now, as: .client(client)) { work in
            if let found = try work.authorizations.find(id), case .redeemed(let who, let family) = found.state {
                try work.endFamilies(.family(family, of: who.user, at: client), because: .codeReused)
            }
            return .invalid
        }
    }
}
