package import CountersignWire

/// Puts a sign-in to the devices of the person who was named, if there is such a person and they may be asked.
///
/// The outbox calls it after ``AskSignIn``, so that the page's reply takes as long for somebody whom nobody knows. It
/// may be called more than once.
package enum PutSignIn {
    /// Puts the latest ask of a sign-in to devices.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - challenge: the challenge to ask by; nothing is done if the latest ask has another one.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func put(_ id: AuthorizationID, by challenge: ChallengeID, ports: Ports) async throws {
        let now = ports.time.now
        let nonce = ports.random.bytes(32)
        try await ports.commit(at: now, as: .system) { work in
            guard let found = try work.authorizations.findUnasked(id), found.state == .open, let ask = found.ask,
                ask.challenge == challenge, let number = ask.number, now < ask.until,
                let (client, party) = try work.clients.lockWithParty(found.client), client.disabledAt == nil,
                party.ways.contains(.device),
                let user = try work.userToAsk(found.wanted, at: client, party)
            else { return }
            // What a client's server or a device asks for is in no browser that could be known.
            let isKnown =
                try found.wanted.door == .browser
                && work.browsers.isKnown(found.browser, of: user, by: client.id)
            switch found.wanted.door {
            case .browser:
                // check: SignInTests.unknownBrowser
                guard isKnown || party.askedBrowsers == .all else { return }
            // Nobody sees the page on which the person would allow it.
            case .device:
                // check: DeviceCodeTests.thirdParty
                guard party.deviceGrant == .byHint, try !work.needsConsent(of: user, to: found.wanted, by: client)
                else { return }
            case .backchannel:
                // check: BackchannelTests.thirdParty
                guard party.backchannel != nil, try !work.needsConsent(of: user, to: found.wanted, by: client)
                else { return }
            }
            let inputs = AskChallenge.RandomInputs(challenge: challenge, nonce: nonce, number: number)
            _ = try work.put(found, until: ask.until, to: user, at: client, party, inputs, isBrowserKnown: isKnown)
        }
    }
}

extension UnitOfWork {
    /// Puts a sign-in to the devices of a user, within their budget, by the first type that one of them can answer.
    ///
    /// - Parameters:
    ///   - asked: the sign-in.
    ///   - end: when the ask ends unanswered.
    ///   - user: the user, whose row is locked.
    ///   - client: the client.
    ///   - party: how the client uses the provider.
    ///   - inputs: the random values of the latest ask.
    ///   - isBrowserKnown: whether the browser is one of the user's.
    /// - Returns: whether anybody is asked.
    func put(
        _ asked: Authorization, until end: Timestamp, to user: UserID, at client: Client, _ party: RelyingParty,
        _ inputs: AskChallenge.RandomInputs, isBrowserKnown: Bool
    ) throws -> Bool {
        // A yes would give the client nothing.
        // check: StrictSwitchTests.notAsked
        guard asked.wanted.isServed(by: party) else { return false }
        // A challenge that outlived its sign-in would take a yes that gives nothing.
        let lifetime = Seconds((end.milliseconds - now.milliseconds) / 1000)
        // check: DeviceCodeTests.lastSecond
        guard lifetime >= Seconds(1) else { return false }
        // check: SignInTests.budgets
        guard try mayBeAsked(user, asked, at: client, party, isBrowserKnown) else { return false }
        let enrollments = try enrollments.believed(of: user, in: client.trustGroup)
        // A device or a server that asks is in no browser that could become the person's, or be forgotten.
        let browser = asked.wanted.door == .browser ? asked.browser : nil
        let open = asked.wanted.backchannel == nil ? 0 : try openSignIns(of: user, by: client.id)
        var decided: AskChallenge.Decided?
        for type in try types.forSignIn(asked.wanted, at: party) where decided == nil {
            // The client or the type may have got a number since: nobody would see it, so that nobody could say yes.
            // check: BackchannelTests.numberUnseen
            guard asked.wanted.showsNumber || !type.type.numberEntry else { continue }
            let facts = AskChallenge.Facts(
                client: client, user: user, type: type.type, enrollments: enrollments, isLocked: false,
                openChallenges: open, recentAsks: [], now: now)
            var request = AskRequest.signIn(.id(user), type, at: client, asked.wanted, for: lifetime)
            if let server = asked.wanted.backchannel {
                if let message = server.message { request.message = message }
                request.context = server.context?.said(by: client.name)
            }
            // A number that is shown must be typed, whatever has become of the type.
            if asked.wanted.showsNumber { request.numberEntry = true }
            decided = try? AskChallenge.decide(
                request, facts, inputs, purpose: .authorization(asked.id), browser: browser, issuer: issuer,
                hasher: hasher)
        }
        // What no device can answer uses up nothing of what servers may ask.
        guard let decided else { return false }
        if asked.wanted.backchannel != nil {
            // check: BackchannelTests.budget
            guard try isWithinServerBudgets(user, at: client) else { return false }
        }
        guard
            try authorizations.noteAsked(
                asked.id, by: inputs.challenge, of: user, isBrowserKnown: isBrowserKnown)
        else { return false }
        try ask(decided.challenge, of: decided.enrollments, telling: decided.pushed)
        return true
    }

    /// The user whose devices are asked, locked before the sign-in, as by every end of a challenge; nil for nobody.
    ///
    /// A first party that takes whoever is a user asks also a user whom it does not know yet, by an address that the
    /// user has proved. A third party does not: it could have the phones of people asked who have never heard of it.
    fileprivate func userToAsk(_ wanted: Wanted, at client: Client, _ party: RelyingParty) throws -> UserID? {
        // A client's server may also name somebody by an ID token.
        if wanted.backchannel != nil, let hint = wanted.hint { return try links.find(hint, of: client.id)?.id }
        let name = wanted.identifier
        let named: UserID?
        if let event = wanted.device?.event {
            // An app that was written for Cotter may name somebody in more ways than one.
            named = try stores.person(called: event.user, at: client.id, hasher)
        } else {
            // It is a part of the link, which is read, and locked, by it.
            if case .externalID(let external) = name {
                return try links.find(.externalID(external), of: client.id)?.id
            }
            named = try name.flatMap { try stores.person(named: $0, at: client.id, hasher) }
        }
        if let named { return try links.find(.id(named), of: client.id)?.id }
        // check: AccountTests.byNumber
        guard !client.isThirdParty else { return nil }
        // check: AccountTests.byNumber
        guard party.registration != .closed else { return nil }
        guard let address = name?.address, let user = try identifiers.verified(hasher.identifier(address))?.user else {
            return nil
        }
        try users.lock(user)
        return try users.find(user)?.deletedAt == nil ? user : nil
    }

    /// Whether a user's devices may be asked about a sign-in now, within the limits of its door.
    fileprivate func mayBeAsked(
        _ user: UserID, _ asked: Authorization, at client: Client, _ party: RelyingParty, _ isBrowserKnown: Bool
    ) throws -> Bool {
        // Spec: NIST SP 800-63B-4 §3.1.3.2, OWASP ASVS 6.6.4. The budget is the user's over all clients of the
        // group: a third party must not use up what the others have.
        let third = client.trustGroup.thirdParty
        // The client has proved who it is, and knows whom it asks: nobody else can have this person asked in its name.
        if let server = asked.wanted.backchannel {
            // check: BackchannelTests.reported
            guard try !askingLocks.exists(of: user, by: client.id) else { return false }
            let mustBring = party.backchannel?.bringsUserCode ?? false
            // A wrong code uses up nothing of what the person can be asked.
            // check: UserCodeTests.right
            guard try isRight(userCode: server.userCode, of: user, at: client, mustBring: mustBring) else {
                return false
            }
            return true
        }
        // check: SignInTests.oneAtATime
        guard try giveWay(of: user, at: client, to: asked, isBrowserKnown) else { return false }
        // check: SignInTests.reportLocksStrangers
        guard try isBrowserKnown || !counted(.reportedSignIns(user, at: third)).isUsedUp else { return false }
        // check: SignInTests.budgets
        guard try !count(.signInAsks(user, at: third, isBrowserKnown: isBrowserKnown)).isExceeded else {
            return false
        }
        return true
    }

    /// Whether clients' servers may have a user asked once more; it counts.
    private func isWithinServerBudgets(_ user: UserID, at client: Client) throws -> Bool {
        let third = client.trustGroup.thirdParty
        // check: BackchannelTests.budget
        guard try !count(.backchannelAsks(user, at: third)).isExceeded else { return false }
        // A yes ends the other count, so that whoever taps it to be left alone would be asked without end.
        // check: BackchannelTests.budgetOfDay
        guard try !count(.backchannelAsksInADay(user, at: third)).isExceeded else { return false }
        return true
    }

    /// How many sign-ins of a client a user's devices are asked about now.
    fileprivate func openSignIns(of user: UserID, by client: ClientID) throws -> Int {
        try challenges.open(of: user).count { open in
            open.purpose.authorization != nil && open.question.client == client && open.isOpen(at: now)
        }
    }

    /// Ends what else a user's devices are asked about sign-ins, where this one goes before.
    ///
    /// The person begins again in another tab, or goes before somebody at a browser that is not theirs. Clients of
    /// other groups are not in the way: a third party could otherwise keep a user from all others. Nor is what a client's
    /// server asks, which need not be about this visit.
    ///
    /// - Returns: false where the open one goes before.
    fileprivate func giveWay(
        of user: UserID, at client: Client, to asked: Authorization, _ isBrowserKnown: Bool
    ) throws -> Bool {
        for open in try challenges.open(of: user) where open.isOpen(at: now) {
            guard let other = try open.purpose.authorization.flatMap({ try authorizations.find($0) }),
                other.wanted.backchannel == nil,
                try clients.find(other.client)?.trustGroup == client.trustGroup
            else { continue }
            // check: SignInTests.oneAtATime
            guard asked.isInBrowser(of: other) || isBrowserKnown && other.ask?.isBrowserKnown == false else {
                return false
            }
            try endChallenge(open, as: .cancelled)
        }
        return true
    }
}

extension Authorization {
    /// Whether it is asked in the browser of another one, at whichever client: each client has another hash of a browser.
    fileprivate func isInBrowser(of other: Authorization) -> Bool {
        browser == other.browser || wanted.askedBy != nil && wanted.askedBy == other.wanted.askedBy
    }
}
