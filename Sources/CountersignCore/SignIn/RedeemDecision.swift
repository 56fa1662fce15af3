package import CountersignWire
package import Encodings

/// Gives a device or a client's server its tokens as soon as its person has agreed.
///
/// Spec: RFC 8628 §3.4, §3.5; CIBA Core 1.0 §10.1, §11.
package enum RedeemDecision {
    /// By what somebody gets tokens.
    package enum Way: Sendable {
        /// A device, by its code.
        case deviceCode(Secret<String>)
        /// A client's server, by the id of its request.
        case authRequest(Secret<String>)
        /// A client's server, which is told of them.
        case push(AuthorizationID)
        /// An app that was written for Cotter, which has shown the number of what it has asked.
        case event(AuthorizationID)
    }

    /// What a device or a client's server sends.
    package struct Request: Sendable {
        /// By what it gets tokens.
        package let way: Way
        /// The resource that the access token is for; none for the one API that was asked for or, if there was none,
        /// for us.
        package let resources: [String]
        /// The client, which the caller has authenticated.
        package let client: ClientID
        /// The key that the client has proved to have; nil for none.
        package let key: ProvedKey?
        /// The client's rows, as whoever authenticated it has just read them; nil where they are read with the sign-in.
        fileprivate var rows: Rows?
        /// How the client was registered when the request began to wait; nil for a request that has not waited.
        fileprivate var registration: Registration?

        /// A request of these parts, of a client that was read to authenticate it, with how it uses the provider.
        package init(
            _ way: Way, resources: [String] = [], by client: Client, _ party: RelyingParty?, with key: ProvedKey? = nil
        ) {
            self.init(way, resources: resources, by: client.id, with: key)
            rows = Rows(client: client, party: party)
        }

        /// A request of these parts.
        package init(_ way: Way, resources: [String] = [], by client: ClientID, with key: ProvedKey? = nil) {
            self.way = way
            self.resources = resources
            self.client = client
            self.key = key
        }
    }

    /// A client and how it uses the provider, as they were read together.
    fileprivate struct Rows: Sendable {
        let client: Client?
        let party: RelyingParty?

        init(client: Client?, party: RelyingParty?) {
            self.client = client
            self.party = party
        }

        /// The rows of a client that may not be there.
        init(_ found: (client: Client, party: RelyingParty?)?) {
            self.init(client: found?.client, party: found?.party)
        }
    }

    /// How a client is registered, and by what it authenticates.
    fileprivate struct Registration: Equatable, Sendable {
        let party: RelyingParty
        let secretHash: SecretHash?

        /// Nil if there is no such client, or it is disabled, or gets no tokens in the way of a request.
        init?(_ rows: Rows, for request: Request) {
            guard let client = rows.client, client.disabledAt == nil, let party = rows.party,
                request.isServed(by: party)
            else { return nil }
            self.party = party
            secretHash = client.secretHash
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client gets tokens.
        case redeemed(UnsignedTokens)
        /// Nobody has decided yet; whoever polls asks again after the interval.
        case pending(interval: Seconds)
        /// It polls too fast, and must pause longer from now on.
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
        /// The client is disabled, or gets no tokens in this way any more.
        case clientGone
    }

    /// Looks once whether there are tokens.
    ///
    /// A code that comes again ends what it gave: somebody else has had it. But a client that is told when to poll may be
    /// told twice.
    ///
    /// - Throws: ``StoreError``.
    package static func redeem(_ request: Request, ports: Ports) async throws -> Outcome {
        guard let id = ports.hasher.signIn(of: request.way) else { return .invalid }
        return try await look(at: id, for: request, isPoll: true, ports: ports).outcome
    }

    /// Looks once whether there are tokens and, while nobody has decided, lets the caller wait for them.
    ///
    /// - Throws: ``StoreError``.
    package static func redeem(
        _ request: Request, changes: any ChangeNotifier, ports: Ports
    ) async throws -> Beginning {
        guard let id = ports.hasher.signIn(of: request.way) else { return .ended(.invalid) }
        // Subscribed before the first look: a change in between is not missed.
        let subscription = changes.subscribe(to: .authorization(id))
        let look = try await look(at: id, for: request, isPoll: true, ports: ports)
        guard case .pending(let interval) = look.outcome, let end = look.seen.expiresAt else {
            return .ended(look.outcome)
        }
        // What follows is judged by the rows of its time.
        var waiting = request
        waiting.rows = nil
        waiting.registration = look.seen.registration
        return .waiting(
            Wait(signIn: id, request: waiting, interval: interval, expiresAt: end, subscription: subscription))
    }

    /// How a request that would wait begins.
    package enum Beginning: Sendable {
        /// It is known at once.
        case ended(Outcome)
        /// Nobody has decided, and the caller may wait for it.
        case waiting(Wait)
    }

    /// What is kept of a request while it waits.
    package struct Wait: Sendable {
        fileprivate let signIn: AuthorizationID
        fileprivate let request: Request
        /// The pause before the next poll of a caller that does not wait.
        package let interval: Seconds
        fileprivate let expiresAt: Timestamp
        fileprivate let subscription: any ChangeSubscription

        /// Waits until somebody has decided, or until a deadline.
        ///
        /// Who is told before that of a decision goes straight to what gives the tokens, which reads the sign-in itself.
        ///
        /// It ends nothing: of several requests that wait, one gets the tokens. None gets any whose client was
        /// registered anew meanwhile: it has authenticated before, by what its client may have lost since, and must ask
        /// once more. That a key is gone from its client's URL, or an earlier secret's time is over, is not noticed: what
        /// was good when the request came is good while it waits.
        ///
        /// - Throws: `CancellationError` when the wait is interrupted; ``StoreError``.
        package func outcome(until deadline: Timestamp, ports: Ports) async throws -> Outcome {
            let end = min(deadline, expiresAt)
            while true {
                try await subscription.wait(until: end)
                let outcome = try await next(isTold: ports.time.now < end, ports)
                guard case .pending = outcome, ports.time.now < deadline else { return outcome }
            }
        }

        private func next(isTold: Bool, _ ports: Ports) async throws -> Outcome {
            let now = ports.time.now
            if isTold,
                let given = try await RedeemDecision.conclude(signIn, for: request, every: interval, at: now, ports)
            {
                return given
            }
            return try await RedeemDecision.look(at: signIn, for: request, isPoll: false, ports: ports).outcome
        }
    }

    /// The tokens for a client that is told of them, or why there are none.
    ///
    /// An earlier try to tell it may have failed: then it is about the same tokens.
    ///
    /// - Throws: ``StoreError``.
    static func push(_ id: AuthorizationID, to client: ClientID, ports: Ports) async throws -> Outcome {
        let request = Request(.push(id), by: client)
        let outcome = try await look(at: id, for: request, isPoll: false, ports: ports).outcome
        // Another try may have been faster.
        guard outcome == .invalid else { return outcome }
        return try await look(at: id, for: request, isPoll: false, ports: ports).outcome
    }

    /// What a look has read.
    private struct Seen: Sendable {
        let standing: Standing
        /// When the sign-in ends; nil if there is none.
        let expiresAt: Timestamp?
        /// How the client is registered; nil if it is gone, or is read when the tokens are given.
        let registration: Registration?
    }

    /// How a sign-in stands for a request, whatever has become of its client.
    fileprivate enum Standing: Equatable, Sendable {
        /// It is not the request's, or has ended in another way.
        case invalid
        case denied
        /// Its tokens were given.
        case redeemed(TokenFamilyID)
        case expired
        case open
        case authenticated
    }

    /// How a sign-in stands for whoever asks.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - request: what was sent.
    ///   - isPoll: whether this is the first look of a request, which must not come too soon, and by which a spent code
    ///     comes again.
    ///   - ports: the external dependencies.
    private static func look(
        at id: AuthorizationID, for request: Request, isPoll: Bool, ports: Ports
    ) async throws -> (outcome: Outcome, seen: Seen) {
        let now = ports.time.now
        let seen = try await ports.store.read { reader -> Seen in
            let found = try reader.authorizations.find(id)
            let standing = request.standing(of: found, at: now)
            // Whoever gives the tokens reads the client under its lock.
            if !isPoll, standing == .authenticated {
                return Seen(standing: standing, expiresAt: found?.expiresAt, registration: nil)
            }
            let client = request.client
            let rows =
                try request.rows
                ?? Rows(reader.clients.findWithParty(client))
            return Seen(
                standing: standing, expiresAt: found?.expiresAt, registration: Registration(rows, for: request))
        }
        return (try await outcome(of: seen, id, for: request, isPoll: isPoll, at: now, ports), seen)
    }

    private static func outcome(
        of seen: Seen, _ id: AuthorizationID, for request: Request, isPoll: Bool, at now: Timestamp, _ ports: Ports
    ) async throws -> Outcome {
        let client = request.client
        if isPoll || seen.standing != .authenticated {
            guard let party = seen.registration?.party else { return .clientGone }
            switch seen.standing {
            case .invalid: return .invalid
            case .denied: return .denied
            case .redeemed(let family) where request.isPush:
                return try await again(family, of: id, client, at: now, ports)
            // A ping may come twice, and its client polls after each.
            case .redeemed where isPoll && !request.isPinged(by: party):
                return try await endTokens(of: id, client, at: now, ports)
            case .redeemed: return .invalid
            case .expired: return .expired
            case .open, .authenticated: break
            }
        }
        let pace = ports.devicePolls.pace(of: id, by: client)
        // Apps that were written for Cotter poll each second, and know of no other pace.
        if isPoll, !request.isEvent, pace.isTooFast(at: now) { return .slowDown(interval: pace.interval) }
        if seen.standing == .open { return .pending(interval: pace.interval) }
        // Another request may have been faster.
        return try await conclude(id, for: request, every: pace.interval, at: now, ports) ?? .invalid
    }

    /// Gives the tokens, of several requests to one.
    ///
    /// - Returns: nil if nobody has agreed, or the tokens were given.
    private static func conclude(
        _ id: AuthorizationID, for request: Request, every interval: Seconds, at now: Timestamp, _ ports: Ports
    ) async throws -> Outcome? {
        let keys = try ports.keys.current().tokens
        let family: TokenFamilyID = ports.random.id(at: now)
        let client = request.client
        let transports = ports.transports
        return try await ports.commit(at: now, as: .client(client)) { work -> Outcome? in
            // Before any lock: who is told of something else locks nothing. Of several, `redeem` below lets one pass.
            guard let authorization = try work.authorizations.find(id),
                request.standing(of: authorization, at: now) == .authenticated,
                case .authenticated(let authentication) = authorization.state
            else { return nil }
            guard let (found, settings) = try work.clients.lockWithParty(client),
                let registration = Registration(Rows(client: found, party: settings), for: request)
            else { return .clientGone }
            // check: BackchannelTests.registeredAnew
            guard request.registration == nil || request.registration == registration else {
                return .pending(interval: interval)
            }
            let party = registration.party
            try keys.require(party.idTokenAlgorithm)
            // Spec: FAPI 2.0 Security Profile §5.3.2.1.
            // check: StrictSwitchTests.poll
            guard party.takes(begunStrict: authorization.wanted.isStrict) else { return .invalid }
            // Whoever is told of tokens has proved its key when it asked. Spec: CIBA Core 1.0 §5.
            let thumbprint = request.isPush ? authorization.wanted.keyThumbprint : request.key?.thumbprint
            // check: DeviceCodeTests.unproved
            guard thumbprint != nil || !party.bindsTokens else { return .unproved(.missing) }
            let named = authorization.wanted.keyThumbprint
            // check: BackchannelTests.bound
            guard named == nil || named == thumbprint else { return .invalid }
            // check: DeviceCodeTests.replayed
            guard try work.spend(request.key) else { return .unproved(.replayed) }
            let wanted = authorization.wanted
            // Nothing of the user changes before the tokens are written.
            try work.users.lock(authentication.user)
            // Whoever ends a session ends what has been allowed in it and not been given.
            if let session = wanted.device?.session {
                let lasts = try work.sessions.isOpen(session, at: now)
                // check: DeviceConfirmTests.sessionEnded
                guard lasts else { return .invalid }
            }
            // The device that approved may have been removed since, or the user unlinked.
            // check: DeviceCodeTests.ended
            guard party.admits(authentication),
                try work.isGood(authentication.evidence, authentication.user, at: client)
            else { return .invalid }
            let needsConsent = try work.needsConsent(of: authentication.user, to: wanted, by: found)
            // Whoever was asked by name alone has seen no page on which they would allow it. A server never has a page.
            // check: DeviceCodeTests.thirdParty
            guard !needsConsent || wanted.device?.allowedBy == authentication.user else { return .invalid }
            let scopes = wanted.scopes.filter { !wanted.neverGiven.contains($0) }
            let target = try work.stores.target(
                request.resources, of: scopes, at: wanted.resources, for: party, issuer: work.issuer)
            // The code stays good: the request is a developer's mistake, and gives nothing.
            guard let target else { return .unknownResource }
            // check: DeviceConfirmTests.closedSince
            guard try work.admit(authentication.user, to: client) else { return .invalid }
            guard try work.authorizations.redeem(id, authentication, for: family, at: now) else {
                throw StoreError.serializationFailure
            }
            if needsConsent { try work.give(wanted, by: authentication.user) }
            let given = TokenFamily(
                id: family, client: client, session: nil, sid: nil, scopes: scopes, resources: wanted.resources,
                authentication: authentication, boundTo: thumbprint, at: now,
                origin: wanted.device == nil ? .backchannel : .device)
            try work.families.insert(given)
            if wanted.device != nil { try work.tellOfDeviceGrant(authorization, authentication, by: transports) }
            // Where a yes on the page was enough, an earlier sign-in has said who it is.
            let isFresh = authentication.evidence.challenge.map { $0 == authorization.ask?.challenge } ?? false
            try work.raise(.signedIn(authorization, authentication, isFresh: isFresh))
            try work.raise(.tokensGiven(given))
            work.notify(.authorization(id))
            return .redeemed(
                UnsignedTokens(
                    family: given, target: target, isIdentified: scopes.contains(TokenFamily.openID), nonce: nil,
                    party: party, keyThumbprint: thumbprint, pushed: request.isPush ? id : nil))
        }
    }

    /// The tokens that a client was not told of yet, since its server could not be reached.
    private static func again(
        _ id: TokenFamilyID, of signIn: AuthorizationID, _ client: ClientID, at now: Timestamp, _ ports: Ports
    ) async throws -> Outcome {
        try await ports.store.read { reader in
            guard let party = try reader.relyingParties.find(client), let family = try reader.families.find(id)
            else { return .invalid }
            // check: TellBackchannelTests.ended
            guard family.isActive(at: now) else { return .invalid }
            let target = try reader.target(
                [], of: family.scopes, at: family.resources, for: party, issuer: ports.issuer)
            guard let target else { return .unknownResource }
            return .redeemed(
                UnsignedTokens(
                    family: family, target: target, isIdentified: family.scopes.contains(TokenFamily.openID),
                    nonce: nil, party: party, keyThumbprint: family.keyThumbprint, pushed: signIn))
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

extension RedeemDecision.Request {
    fileprivate var isEvent: Bool { if case .event = way { true } else { false } }

    fileprivate var isPush: Bool { if case .push = way { true } else { false } }

    /// Whether a client gets tokens in this way.
    ///
    /// Spec: CIBA Core 1.0 §10, §11: by the mode that it has registered, and no other.
    fileprivate func isServed(by party: RelyingParty) -> Bool {
        switch way {
        case .deviceCode, .event: party.deviceGrant != .off
        case .authRequest: party.backchannel.map { !$0.delivery.isPush } ?? false
        case .push: party.backchannel?.delivery.isPush ?? false
        }
    }

    /// Whether a client polls because it was told to.
    fileprivate func isPinged(by party: RelyingParty) -> Bool {
        if case .authRequest = way { party.backchannel?.delivery.receiver != nil } else { false }
    }

    /// How a sign-in stands for this request.
    fileprivate func standing(of found: Authorization?, at now: Timestamp) -> RedeemDecision.Standing {
        guard let found else { return .invalid }
        // check: DeviceCodeTests.otherClient
        guard fits(found.wanted) else { return .invalid }
        // check: DeviceCodeTests.otherClient
        guard found.client == client else { return .invalid }
        switch found.state {
        case .refused: return .denied
        case .redeemed(_, let family): return .redeemed(family)
        case .granted: return .invalid
        case .open, .authenticated: break
        }
        // check: DeviceCodeTests.expires
        guard now < found.expiresAt else { return .expired }
        return found.state == .open ? .open : .authenticated
    }

    /// Whether a sign-in began so that it ends in this way.
    fileprivate func fits(_ wanted: Wanted) -> Bool {
        switch way {
        case .deviceCode: wanted.device.map { $0.event == nil } ?? false
        case .event: wanted.device?.event != nil
        // What is to be brought is not fetched as well: nobody would know whether the client has it.
        case .authRequest: wanted.backchannel?.isPush == false
        case .push: wanted.backchannel != nil
        }
    }
}

extension Wanted {
    /// The scopes that its door does not give.
    fileprivate var neverGiven: Set<String> {
        device == nil ? BeginBackchannel.neverGiven : BeginDeviceGrant.neverGiven
    }
}

extension KeyedHasher {
    fileprivate func signIn(of way: RedeemDecision.Way) -> AuthorizationID? {
        switch way {
        case .deviceCode(let code): signIn(ofDeviceCode: code)
        case .authRequest(let request): signIn(ofAuthRequest: request)
        case .push(let signIn), .event(let signIn): signIn
        }
    }
}
