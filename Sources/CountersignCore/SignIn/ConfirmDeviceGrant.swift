package import CountersignWire
package import Encodings

/// Says yes to a device that has asked, or no, on the page on which its code was typed.
///
/// A yes there is worth little: somebody may have sent the code. So it is put to the person's devices, which name from
/// where the device asks, and decides by itself only where the person has none.
///
/// Spec: RFC 8628 §3.3, §5.4; docs/decisions/0087-device-grant.md.
package enum ConfirmDeviceGrant {
    /// Who answers, and where.
    package struct Request: Sendable {
        /// What the device has asked for.
        package let signIn: AuthorizationID
        /// Whom the page was shown to.
        package let user: UserID
        /// What the browser's cookie holds.
        package let browser: BrowserID
        /// The session that the browser has; nil for none.
        package let session: Secret<String>?
        /// Whether the page has named nothing that a yes allows, since all of it was allowed before.
        package var isGiven = false
        /// The languages of the page, as in `ui_locales`; nil for the browser's.
        package var languages: String?
        /// The language of the page; nil for the operator's default.
        package var language: LanguageTag?

        /// A request of these parts.
        package init(
            _ signIn: AuthorizationID, by user: UserID, browser: BrowserID, session: Secret<String>?
        ) {
            self.signIn = signIn
            self.user = user
            self.browser = browser
            self.session = session
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The person's devices are asked.
        case asked(Authorization)
        /// The device gets its tokens: the person has no device that could be asked.
        case confirmed
        /// The device gets nothing, and learns it.
        case denied
        /// The person's devices cannot be asked now, and nothing has changed.
        case notAsked
        /// What was allowed when the page was made is not allowed any more, and nothing has changed: the person reads it
        /// before they say yes to it.
        case asksAnew
        /// The person must sign in anew.
        case signIn
        /// There is no such request any more, or another browser has taken it up.
        case gone
    }

    /// Says yes.
    ///
    /// - Throws: ``StoreError``.
    package static func confirm(_ request: Request, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let inputs = AskChallenge.RandomInputs(
            challenge: ports.random.id(at: now), nonce: ports.random.bytes(32),
            number: EntryNumber(value: ports.random.number(below: 1_000_000)))
        do {
            return try await ports.commit(at: now, as: .user(request.user)) { work in
                switch try work.answer(request) {
                case .refused(let outcome): return outcome
                case .from(let session, let found, let client):
                    return try work.confirm(found, by: session, at: client, request, inputs)
                }
            }
        } catch is NotAsked {
            return .notAsked
        }
    }

    /// Says no.
    ///
    /// - Throws: ``StoreError``.
    package static func deny(_ request: Request, ports: Ports) async throws -> Outcome {
        try await ports.commit(at: ports.time.now, as: .user(request.user)) { work in
            switch try work.answer(request) {
            case .refused(let outcome): return outcome
            case .from(_, let found, _): return try work.refuse(found) ? .denied : .gone
            }
        }
    }

    /// Who answers, or why nobody does.
    fileprivate enum Answer {
        case from(Session, Authorization, ClientID)
        case refused(Outcome)
    }

    /// The devices cannot be asked, so that nothing of the answer is written.
    fileprivate struct NotAsked: Error {}
}

extension UnitOfWork {
    fileprivate func answer(_ request: ConfirmDeviceGrant.Request) throws -> ConfirmDeviceGrant.Answer {
        guard let (found, client) = try open(request.signIn, toDeviceIn: request.browser) else {
            return .refused(.gone)
        }
        try users.lock(request.user)
        guard let secret = request.session, let session = try sessions.find(SecretHash(of: secret), at: now) else {
            return .refused(.signIn)
        }
        // check: DeviceConfirmTests.tooOld
        guard try mayAgree(session, to: found) else { return .refused(.signIn) }
        // check: DeviceConfirmTests.otherPerson
        guard session.user == request.user else { return .refused(.signIn) }
        return .from(session, found, client)
    }

    fileprivate func confirm(
        _ found: Authorization, by session: Session, at id: ClientID, _ request: ConfirmDeviceGrant.Request,
        _ inputs: AskChallenge.RandomInputs
    ) throws -> ConfirmDeviceGrant.Outcome {
        guard let client = try clients.find(id), let party = try relyingParties.find(id) else { return .gone }
        let user = session.user
        let here = hasher.hash(of: request.browser, client: id)
        var wanted = found.wanted
        let allows = try needsConsent(of: user, to: wanted, by: client)
        // check: DeviceConfirmTests.takenBack
        guard !allows || !request.isGiven else { return .asksAnew }
        wanted.device?.allowedBy = user
        // Whoever has read a mailbox is at no browser of the person's.
        let isKnown = try !session.authentication.evidence.isCode || browsers.isKnown(here, of: user, by: id)
        wanted.languages = request.languages
        wanted.askedIn = request.language
        wanted.askedFrom = wanted.askedFrom?.worded(in: request.language)
        let asksDevices = !party.ways.isDisjoint(with: [.device, .qr])
        // A device that waits may be a thief's, or the person's only one: both ways a yes here is not enough.
        let hasDevice = try asksDevices && !enrollments.believed(of: user, in: client.trustGroup).isEmpty
        // check: DeviceConfirmTests.codeSession
        guard !hasDevice || isKnown || party.askedBrowsers == .all else { throw ConfirmDeviceGrant.NotAsked() }
        // Whoever ends the session takes back what was allowed in it, whatever the phone says.
        let endsWithSession = !hasDevice || allows
        wanted.device?.session = endsWithSession ? session.id : nil
        let until = min(found.expiresAt, now.adding(AskSignIn.lifetime))
        let taken = Authorization(
            id: found.id, wanted: wanted, browser: here, user: user,
            ask: hasDevice
                ? Authorization.Ask(
                    .number(inputs.number), until: until, challenge: inputs.challenge, isBrowserKnown: isKnown) : nil,
            state: hasDevice ? .open : .authenticated(session.authentication), expiresAt: found.expiresAt)
        // Only the newest number counts, also where the device has shown one.
        try endAsk(of: found)
        guard try authorizations.take(taken, from: found.browser, at: now) else {
            throw StoreError.serializationFailure
        }
        notify(.authorization(found.id))
        guard hasDevice else { return .confirmed }
        // check: DeviceConfirmTests.notAsked
        guard try authorizations.askAgain(taken, after: found.ask, at: now),
            try put(taken, until: until, to: user, at: client, party, inputs, isBrowserKnown: isKnown)
        else { throw ConfirmDeviceGrant.NotAsked() }
        return .asked(taken)
    }
}
