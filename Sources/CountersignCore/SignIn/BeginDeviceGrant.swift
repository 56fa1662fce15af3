package import CountersignWire
package import Encodings

/// Begins a sign-in on a device that fetches its tokens by itself, and asks the person's devices if it names the
/// person.
///
/// Nobody is looked up here: the same rows are written whoever is named, and who takes the message from the outbox
/// finds the person or drops it.
///
/// Spec: RFC 8628 §3.1, §3.2; docs/decisions/0087-device-grant.md.
package enum BeginDeviceGrant {
    /// How long it can be completed.
    package static let lifetime = Seconds.minutes(10)
    /// The scopes that it does not give: what a phisher may get by it ends by itself, and enrolls nothing.
    static let neverGiven: Set<String> = [TokenFamily.offlineAccess, Ticket.scope]
    /// How many codes are drawn, in case one is taken.
    private static let tries = 4

    /// What a device asks for.
    package struct Request: Sendable {
        /// The client.
        package let client: ClientID
        /// Whether the client has proved who it is; its server then asks for the device.
        package let isAuthenticated: Bool
        /// The scopes that it wants.
        package var scopes: [String] = [TokenFamily.openID]
        /// The APIs that it wants tokens for.
        package var resources: [String] = []
        /// Whom it names; nil for nobody.
        package var hint: String?
        /// What an app asks that was written for Cotter, and whose user it names instead; nil for every other device.
        package var event: AskedEvent?
        /// How long the request shall be good; nil for as long as it may.
        package var lifetime: Seconds?
        /// How strong the authentication shall be at least; nil for any strength.
        package var strength: Authentication.Strength?
        /// The languages that the device asks for, as in `ui_locales`; nil for none.
        package var languages: String?
        /// The one of them in which the person is told; nil for the operator's default.
        package var language: LanguageTag?
        /// From where the device asks; nil where that is not known.
        package var place: ContextLine?
        /// The caller's network.
        package var network: [UInt8]?

        /// Whether it may be anybody's who has somebody's devices asked.
        fileprivate var mayBeStrangers: Bool { isHinted && !isAuthenticated }

        /// Whether it names somebody.
        fileprivate var isHinted: Bool { hint != nil || event != nil }

        /// A request of a client.
        package init(by client: ClientID, isAuthenticated: Bool) {
            self.client = client
            self.isAuthenticated = isAuthenticated
        }
    }

    /// What the device gets.
    package struct Begun: Sendable {
        /// The number by which an app that was written for Cotter knows it.
        package let eventNumber: Int64
        /// The code by which it fetches its tokens.
        package let deviceCode: Secret<String>
        /// The code that it shows.
        package let userCode: UserCode
        /// The number that it shows, to be typed on a device of the person; nil where it has named nobody.
        package let number: EntryNumber?
        /// How long it can be completed.
        package let expiresIn: Seconds
        /// How long the device pauses between two polls.
        package let interval: Seconds
    }

    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The device shows the code, and polls.
        case begun(Begun)
        /// The client has no device grant.
        case off
        /// The client names somebody, and may not.
        case hintNotAllowed
        /// Of what the client wants, nothing is given, or not so.
        case notGiven(WantedAccess)
        /// There were too many; try again after some seconds.
        case tooMany(retryAfter: Seconds)
        /// The client is disabled, or uses the provider no more.
        case clientGone
    }

    /// Begins.
    ///
    /// - Throws: ``StoreError``.
    package static func begin(_ request: Request, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let made = Made(
            id: ports.random.id(at: now), challenge: ports.random.id(at: now), message: ports.random.id(at: now),
            number: EntryNumber(value: ports.random.number(below: 1_000_000)),
            userCodes: (0..<tries).map { _ in UserCode(from: ports.random) },
            expiresAt: now.adding(min(lifetime, request.lifetime ?? lifetime)))
        let limits = ports.limits
        return try await ports.commit(at: now, as: .client(request.client)) { work in
            guard let (client, party) = try work.clients.lockWithParty(request.client), client.disabledAt == nil
            else { return .clientGone }
            // check: DeviceCodeTests.off
            guard party.deviceGrant != .off else { return .off }
            // check: DeviceCodeTests.hintOff
            guard !request.isHinted || party.deviceGrant == .byHint else { return .hintNotAllowed }
            if let wait = try work.wait(before: request, limits) { return .tooMany(retryAfter: wait) }
            let access = try work.stores.access(
                request.scopes, at: request.resources, for: party, issuer: work.issuer)
            guard case .scopes(let named, let apis) = access else { return .notGiven(access) }
            let scopes = named.filter { !neverGiven.contains($0) }
            // check: DeviceCodeTests.scopes
            guard !scopes.isEmpty || !apis.isEmpty else { return .notGiven(.scopes([], at: [])) }
            var wanted = Wanted(client: client.id, redirectURI: "", scopes: scopes)
            wanted.resources = apis
            wanted.identifier = request.hint.flatMap { SignInName($0) }
            if let event = request.event {
                // Whom it means is found when it is put to devices.
                wanted.identifier = PersonalAddress(typed: event.user).map(SignInName.address)
            }
            wanted.askedFrom = request.place
            wanted.maximumAge = party.defaultMaximumAge
            wanted.strength = request.strength
            (wanted.languages, wanted.askedIn) = (request.languages, request.language)
            let begun = try work.begin(wanted, made, isHinted: request.isHinted, request.event)
            // Last, since all nodes wait for this row.
            if request.mayBeStrangers { try work.countForWork(limits.work) }
            return .begun(begun)
        }
    }

    /// The random values of a request, which are drawn whether they are needed or not.
    fileprivate struct Made: Sendable {
        let id: AuthorizationID
        let challenge: ChallengeID
        let message: EventID
        let number: EntryNumber
        let userCodes: [UserCode]
        let expiresAt: Timestamp
    }
}

extension UnitOfWork {
    /// After how long a client may begin another one; nil for at once.
    ///
    /// Whoever has a client's id can pass for an app, so that its network is counted as well. A page would give a
    /// browser work while there are many sign-ins, which a device cannot do: it names nobody then.
    fileprivate func wait(before request: BeginDeviceGrant.Request, _ limits: ClientLimits) throws -> Seconds? {
        var budgets = [AttemptLimit.deviceGrants(of: request.client, maximum: limits.codeAsks)]
        // First, so that one network does not use up what all have.
        if !request.isAuthenticated, let network = request.network { budgets.insert(.signInsFrom(network), at: 0) }
        for budget in budgets {
            let count = try count(budget)
            if count.isExceeded { return count.retryAfter(at: now) }
        }
        guard request.mayBeStrangers, limits.work != .off else { return nil }
        let steps = try counted(.workSteps)
        return steps.number == 0 ? nil : steps.retryAfter(at: now)
    }

    fileprivate func begin(
        _ asked: Wanted, _ made: BeginDeviceGrant.Made, isHinted: Bool, _ event: AskedEvent?
    ) throws -> BeginDeviceGrant.Begun {
        let taken = try made.userCodes.first {
            try authorizations.insert(hasher.hash(of: $0), of: made.id, until: made.expiresAt)
        }
        guard let userCode = taken else { throw StoreError.serializationFailure }
        var wanted = asked
        var device = AskingDevice(userCode: userCode)
        device.event = event
        wanted.device = device
        let until = min(made.expiresAt, now.adding(AskSignIn.lifetime))
        let ask =
            isHinted
            ? Authorization.Ask(.number(made.number), until: until, challenge: made.challenge, isBrowserKnown: false)
            : nil
        try authorizations.insert(
            Authorization(
                id: made.id, wanted: wanted, browser: hasher.noBrowser(of: made.id), user: nil, ask: ask, state: .open,
                expiresAt: made.expiresAt))
        if let event { try insertEvent(event, of: made.id, at: wanted.client, until: made.expiresAt) }
        if isHinted {
            let content = OutboxMessage.Content.signIn(made.id, by: made.challenge, client: wanted.client)
            try outbox.enqueue(OutboxMessage(id: made.message, content: content, dueAt: now, expiresAt: until))
        }
        return BeginDeviceGrant.Begun(
            eventNumber: hasher.eventNumber(of: made.id), deviceCode: hasher.deviceCode(of: made.id),
            userCode: userCode, number: ask?.number, expiresIn: made.expiresAt - now, interval: DevicePollPace.interval)
    }
}
