package import CountersignWire
import Encodings

/// Asks for a proof of who signs in at a client: on a trusted device, or by a code that is sent to an address.
///
/// Nobody is looked up here. The same rows are written whether there is such a person or not, one message among them;
/// who takes it from the outbox finds the person or drops it: ``PutSignIn``, ``SignInCode``.
package enum AskSignIn {
    /// How long a number can be typed.
    package static let lifetime = Seconds.minutes(2)
    /// How long a code can be scanned; it is shown anew each minute.
    package static let codeLifetime = ChallengeType.longestCode

    /// What is asked, by whom, from where.
    package struct Request: Sendable {
        /// The way that the person has chosen.
        package let way: SignInWay
        /// What the page carried: what the client wants and, if the person was asked before, for which sign-in.
        package let carried: CarriedSignIn
        /// What the browser's cookie holds.
        package let browser: BrowserID
        /// From where the sign-in was started.
        package let place: ContextLine?
        /// The language of the page; nil for the operator's default.
        package let language: LanguageTag?
        /// The caller's network.
        package let network: [UInt8]?
        /// What solves the puzzle that the page has given; nil for nothing.
        package let nonce: UInt32?

        /// A request of these parts.
        package init(
            _ carried: CarriedSignIn, by way: SignInWay, browser: BrowserID, place: ContextLine?,
            language: LanguageTag? = nil, network: [UInt8]?, nonce: UInt32? = nil
        ) {
            self.way = way
            self.carried = carried
            self.browser = browser
            self.place = place
            self.language = language
            self.network = network
            self.nonce = nonce
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The sign-in, with what to show.
        case asked(Authorization)
        /// The client is disabled, uses the provider no more, or does not have the way.
        case clientGone
        /// The earlier sign-in is another browser's, or is over.
        case tooLate
        /// A code was sent a moment ago; another one can be asked for after some seconds.
        case tooEarly(Authorization, retryAfter: Seconds)
        /// The network has started too many sign-ins, or the address had too many codes; try again after some seconds.
        case tooMany(retryAfter: Seconds)
        /// The browser must do this work first, and what was wrong with what it has done.
        case needsWork(SignInWork, SignInWork.Problem?)
    }

    /// Asks.
    ///
    /// - Throws: ``StoreError``.
    package static func ask(_ request: Request, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let made = Made(
            id: request.carried.signIn ?? ports.random.id(at: now), challenge: ports.random.id(at: now),
            verification: ports.random.id(at: now), message: ports.random.id(at: now), nonce: ports.random.bytes(32),
            number: EntryNumber(value: ports.random.number(below: 1_000_000)))
        var wanted = request.carried.wanted
        // The phone names the place in the words of the page.
        wanted.askedFrom = request.place?.worded(in: request.language)
        wanted.askedIn = request.language
        wanted.askedBy = ports.hasher.name(of: request.browser)
        let limits = ports.limits
        let (outcome, level) = try await ports.commit(at: now, as: .system) { [wanted] work in
            let level = request.way.reachesSomebody ? try work.workLevel(limits.work) : nil
            return (try work.begin(request, wanted, made, limits, needing: level ?? 0), level)
        }
        if let level { ports.workLog.note(level, at: now, ports.logger) }
        return outcome
    }

    /// The random values of an ask, which are drawn whether they are needed or not.
    fileprivate struct Made: Sendable {
        let id: AuthorizationID
        let challenge: ChallengeID
        let verification: VerificationID
        let message: EventID
        let nonce: [UInt8]
        let number: EntryNumber
    }

    /// An ask, and what brings it to the person once it is written.
    fileprivate struct Asked {
        enum Bringer {
            case message(OutboxMessage)
            case challenge(AskChallenge.Decided)
        }

        let ask: Authorization.Ask
        let bringer: Bringer

        init(_ ask: Authorization.Ask, by bringer: Bringer) {
            self.ask = ask
            self.bringer = bringer
        }
    }

    /// An ask, or why there is none; what was counted for it stays counted.
    fileprivate enum Answer {
        case asked(Asked)
        case refused(Outcome)
    }
}

extension Authorization {
    /// After how long another code can be asked for; nil for at once, and for every other way.
    fileprivate func wait(before way: SignInWay, at now: Timestamp) -> Seconds? {
        guard way == .email || way == .text else { return nil }
        return ask?.verification?.wait(at: now)
    }
}

extension UnitOfWork {
    /// A sign-in of this browser that is open; nil if there is none.
    func open(_ id: AuthorizationID, in browser: KeyedHash) throws -> Authorization? {
        guard let found = try authorizations.find(id), found.state == .open else { return nil }
        // check: SignInTests.otherBrowser
        guard found.browser == browser else { return nil }
        // A device or a server has its own way to be asked for.
        // check: DeviceConfirmTests.otherWays
        guard found.wanted.door == .browser else { return nil }
        return found
    }

    /// Ends the latest ask of a sign-in, before another one: only the newest number or code counts.
    func endAsk(of authorization: Authorization) throws {
        if let challenge = try authorization.ask?.challenge.flatMap({ try challenges.find($0) }) {
            try endChallenge(challenge, as: .cancelled)
        }
    }

    /// Writes an ask, unless something is against it.
    ///
    /// - Parameters:
    ///   - request: what is asked.
    ///   - wanted: what the client wants, with from where it is asked now.
    ///   - made: the random values.
    ///   - limits: the operator's limits.
    ///   - level: how hard the work is that unknown browsers must do; 0 where there is none.
    fileprivate func begin(
        _ request: AskSignIn.Request, _ wanted: Wanted, _ made: AskSignIn.Made, _ limits: ClientLimits,
        needing level: Int
    ) throws -> AskSignIn.Outcome {
        // check: DeviceConfirmTests.otherWays
        guard wanted.door == .browser else { return .tooLate }
        // Nothing would cancel what is asked for a client that is being disabled, or becomes strict.
        guard let (client, party) = try clients.lockWithParty(wanted.client), client.disabledAt == nil,
            party.ways.contains(request.way)
        else { return .clientGone }
        // check: StrictSwitchTests.oldPage
        guard party.takes(begunStrict: wanted.isStrict) else { return .tooLate }
        // check: SignedDetailsTests.otherWays
        guard wanted.details == nil || request.way.isSigned else { return .clientGone }
        let browser = hasher.hash(of: request.browser, client: client.id)
        let reachesSomebody = request.way.reachesSomebody(named: wanted.identifier, at: party)
        let isOwn = try reachesSomebody && isKnown(browser, to: wanted)
        let isStrange = limits.work != .off && reachesSomebody && !isOwn
        let level = try isStrange && isHalfUsed(for: wanted, by: request.way, at: party, limits) ? max(1, level) : level
        let needsWork = isStrange && level > 0
        // The answer to a puzzle is counted, and not that somebody is given one.
        if let network = request.network, !needsWork || request.carried.work != nil {
            let count = try count(.signInsFrom(network))
            if count.isExceeded { return .tooMany(retryAfter: count.retryAfter(at: now)) }
        }
        var earlier: Authorization?
        if let id = request.carried.signIn {
            guard let open = try open(id, in: browser) else { return .tooLate }
            if let wait = open.wait(before: request.way, at: now) { return .tooEarly(open, retryAfter: wait) }
            earlier = open
        }
        // Nothing that limits what somebody gets is used up by who has not done it.
        if needsWork, let missing = try missingWork(for: request, at: level, limits.work) { return missing }
        let asked: AskSignIn.Asked
        switch try ask(request, wanted, inOwnBrowser: isOwn, of: client, party, made, limits) {
        case .asked(let answer): asked = answer
        case .refused(let outcome): return outcome
        }
        // What is refused leaves the earlier number as the page shows it.
        if let earlier { try endAsk(of: earlier) }
        let authorization = Authorization(
            id: made.id, wanted: wanted, browser: browser, user: nil, ask: asked.ask, state: .open,
            expiresAt: earlier?.expiresAt ?? now.adding(Authorization.lifetime))
        if let earlier {
            guard try authorizations.askAgain(authorization, after: earlier.ask, at: now) else {
                guard now < earlier.expiresAt else { return .tooLate }
                // Another request was quicker. The next try sees what it has sent, and that there is a pause.
                throw StoreError.serializationFailure
            }
        } else {
            try authorizations.insert(authorization)
        }
        switch asked.bringer {
        case .message(let message):
            try outbox.enqueue(message)
        case .challenge(let decided):
            try ask(decided.challenge, of: decided.enrollments, telling: decided.pushed)
        }
        // Last, since all nodes wait for this row.
        if isStrange { try countForWork(limits.work) }
        return .asked(authorization)
    }

    /// Whether somebody of the name that was typed has signed in from a browser; the same work for every name.
    private func isKnown(_ browser: KeyedHash, to wanted: Wanted) throws -> Bool {
        guard let name = wanted.identifier else { return false }
        return try browsers.isKnown(browser, named: name, by: wanted.client, hasher)
    }

    private func ask(
        _ request: AskSignIn.Request, _ wanted: Wanted, inOwnBrowser isOwn: Bool, of client: Client,
        _ party: RelyingParty, _ made: AskSignIn.Made, _ limits: ClientLimits
    ) throws -> AskSignIn.Answer {
        switch request.way {
        case .device: return .asked(number(of: client.id, made))
        case .qr:
            guard let type = try types.codeForSignIn(wanted, at: party) else { return .refused(.clientGone) }
            return try code(of: client, type, for: wanted, made, limits)
        // The page itself has what a passkey signs.
        case .passkey: return .refused(.clientGone)
        case .email, .text:
            guard let address = wanted.identifier?.address, party.sends(to: address) else {
                return .refused(.clientGone)
            }
            return try message(to: address, inOwnBrowser: isOwn, of: client.id, party, made, limits)
        }
    }

    /// Shows a number; the person's devices, if there are any, are asked by ``PutSignIn``.
    private func number(of client: ClientID, _ made: AskSignIn.Made) -> AskSignIn.Asked {
        let until = now.adding(AskSignIn.lifetime)
        let ask = Authorization.Ask(
            .number(made.number), until: until, challenge: made.challenge, isBrowserKnown: false)
        let content = OutboxMessage.Content.signIn(made.id, by: made.challenge, client: client)
        return AskSignIn.Asked(ask, by: .message(message(content, made, until: until)))
    }

    /// Sends a code; whether it goes out is decided by ``SignInCode``.
    private func message(
        to address: PersonalAddress, inOwnBrowser isOwn: Bool, of client: ClientID, _ party: RelyingParty,
        _ made: AskSignIn.Made, _ limits: ClientLimits
    ) throws -> AskSignIn.Answer {
        if let wait = try refusal(ofCodeTo: address, inOwnBrowser: isOwn, of: client, party, limits) {
            return .refused(.tooMany(retryAfter: wait))
        }
        let until = now.adding(Verification.lifetime)
        let ask = Authorization.Ask(
            .field(Verification(id: made.verification, address: address)), until: until, challenge: nil,
            isBrowserKnown: false)
        let content = OutboxMessage.Content.signInCode(
            made.id, of: made.verification, by: address.kind, client: client)
        return .asked(AskSignIn.Asked(ask, by: .message(message(content, made, until: until))))
    }

    /// Counts a code that a page of a client sends to an address.
    ///
    /// - Parameters:
    ///   - address: the address.
    ///   - isOwn: whether the browser is one of its user's, where others must not use up the codes.
    ///   - client: the client.
    ///   - party: how the client uses the provider.
    ///   - limits: the operator's limits.
    /// - Returns: after how long to try again if there were too many; nil if it may be sent.
    func refusal(
        ofCodeTo address: PersonalAddress, inOwnBrowser isOwn: Bool, of client: ClientID, _ party: RelyingParty,
        _ limits: ClientLimits
    ) throws -> Seconds? {
        let own = AttemptLimit.signInMessages(to: hasher.name(of: address), inOwnBrowser: isOwn)
        let ofClient = AttemptLimit.codes(to: address, of: client, party, limits)
        // What the client may not send is not counted against the address, nor the other way round.
        for budget in ofClient {
            let count = try counted(budget)
            if count.isUsedUp { return count.retryAfter(at: now) }
        }
        for budget in [own] + ofClient {
            let count = try count(budget)
            if count.isExceeded { return count.retryAfter(at: now) }
        }
        return nil
    }

    /// Whether a client has used half of what it may send by a way in an hour, to all addresses together.
    private func isHalfUsed(
        for wanted: Wanted, by way: SignInWay, at party: RelyingParty, _ limits: ClientLimits
    ) throws -> Bool {
        guard way == .email || way == .text, let address = wanted.identifier?.address else { return false }
        return try AttemptLimit.codes(to: address, of: wanted.client, party, limits)
            .contains { try counted($0).number >= max(1, $0.maximum / 2) }
    }

    private func message(
        _ content: OutboxMessage.Content, _ made: AskSignIn.Made, until: Timestamp
    ) -> OutboxMessage {
        OutboxMessage(id: made.message, content: content, dueAt: now, expiresAt: until)
    }

    /// Shows a code to whoever scans it.
    private func code(
        of client: Client, _ type: SignInType, for wanted: Wanted, _ made: AskSignIn.Made, _ limits: ClientLimits
    ) throws -> AskSignIn.Answer {
        let count = try count(.signInCodes(client.id, maximum: limits.codeAsks))
        // check: SignInBudgetTests.codes
        guard !count.isExceeded else {
            return .refused(.tooMany(retryAfter: count.retryAfter(at: now)))
        }
        let inputs = AskChallenge.RandomInputs(challenge: made.challenge, nonce: made.nonce, number: made.number)
        let request = AskRequest.signIn(nil, type, at: client, wanted, for: AskSignIn.codeLifetime)
        let facts = AskChallenge.Facts(
            client: client, user: nil, type: type.type, enrollments: [], isLocked: false, openChallenges: 0,
            recentAsks: [],
            now: now)
        let decided = try? AskChallenge.decide(
            request, facts, inputs, purpose: .authorization(made.id), issuer: issuer, hasher: hasher)
        guard let decided else { return .refused(.clientGone) }
        let ask = Authorization.Ask(
            .code, until: decided.challenge.expiresAt, challenge: decided.challenge.id, isBrowserKnown: false)
        return .asked(AskSignIn.Asked(ask, by: .challenge(decided)))
    }
}

extension AskRequest {
    /// The question whether somebody wants to sign in, and authorizes what the client wants in detail.
    static func signIn(
        _ user: UserReference?, _ asked: SignInType, at client: Client, _ wanted: Wanted, for lifetime: Seconds
    ) -> AskRequest {
        let type = asked.type
        var request = AskRequest(user: user, type: type.name, message: nil)
        request.methods = asked.methods
        if type.texts.isEmpty { request.message = try? DisplayMessage("Sign in to \(client.name.text)?") }
        request.details = wanted.details?.lines ?? []
        request.context = wanted.askedFrom
        request.lifetime = min(lifetime, type.lifetime)
        return request
    }
}

extension AttemptLimit {
    /// What limits the codes that a client sends to all addresses together.
    fileprivate static func codes(
        to address: PersonalAddress, of client: ClientID, _ party: RelyingParty, _ limits: ClientLimits
    ) -> [AttemptLimit] {
        switch address {
        case .email: return [.signInMailsOf(client, maximum: limits.mails)]
        case .phone(let number):
            let prefix = party.callingCodes.first { $0.isOf(number) }.map { "\($0)" } ?? ""
            return [.signInTextsOf(client, prefix: prefix), .textCodesOf(client, maximum: limits.texts)]
        }
    }
}
