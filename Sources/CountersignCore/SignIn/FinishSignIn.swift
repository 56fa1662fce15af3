package import CountersignWire
package import Encodings

/// Gives a client the code for a person who is authenticated.
package enum FinishSignIn {
    /// How long a page may take to go on after the person has authenticated, whatever age the client allows.
    private static let goingOn: Seconds = .minutes(1)

    /// What the browser carries away.
    package struct Finished: Equatable, Sendable {
        /// What the client wanted.
        package let wanted: Wanted
        /// The person.
        package let user: UserID
        /// The code for the client.
        package let code: Secret<String>
        /// The new value of the session's cookie, and when the session ends; nil where the value stays.
        package let session: OpenedSession?

        package static func == (left: Finished, right: Finished) -> Bool {
            left.wanted == right.wanted && left.user == right.user && left.code.isSame(as: right.code)
        }
    }

    /// A session that was opened, or renewed by an authentication.
    package struct OpenedSession: Sendable {
        /// The value of the cookie.
        package let secret: Secret<String>
        /// When the session ends in any case.
        package let expiresAt: Timestamp
        /// Whether the person could have gone on in this session before.
        package let wasOpen: Bool
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client gets a code.
        case finished(Finished)
        /// There is no such sign-in in this browser, nobody is authenticated, or it was finished before.
        case notReady
        /// Somebody else was authenticated than the client expects.
        case otherPerson(Wanted)
        /// The authentication is weaker than the client takes.
        case tooWeak(Wanted)
        /// The person must be asked first.
        case asks(ConsentQuestion)
        /// The request that the client has pushed has given it a result before, or is too old to.
        case spent(Wanted)
        /// The browser has got too many codes; try again after some seconds.
        case tooMany(retryAfter: Seconds)
        /// The client is disabled, or uses the provider no more, or no longer has the redirect URI.
        case clientGone
    }

    /// Finishes a sign-in whose person is authenticated: opens or renews a session, and gives a code.
    ///
    /// Where the browser has a session of the same person already, this one is renewed, so that what another tab has just
    /// got in it stays good. Its cookie has a new value in any case, and somebody else's session ends.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - browser: what the browser's cookie holds.
    ///   - former: the session that the browser has; nil for none.
    ///   - answer: what the person has just answered.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func finish(
        _ id: AuthorizationID, in browser: BrowserID, former: Secret<String>?, answer: ConsentAnswer = .none,
        ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let made = Made(at: now, ports)
        return try await finishing(at: now, ports) { work in
            guard let found = try work.authorizations.find(id),
                case .authenticated(let authentication) = found.state, now < found.expiresAt
            else { return .notReady }
            // check: SignInTests.otherBrowser
            guard found.browser == work.hasher.hash(of: browser, client: found.client) else { return .notReady }
            // A device or a server fetches its tokens by itself, and no browser carries a code for it.
            // check: DeviceConfirmTests.otherWays
            guard found.wanted.door == .browser else { return .notReady }
            guard let client = try work.client(accepting: found.wanted) else { return .clientGone }
            // check: SignInTests.otherPerson
            guard try work.is(authentication.user, hintedBy: found.wanted) else {
                _ = try work.authorizations.advance(id, to: .refused, at: now)
                return .otherPerson(found.wanted)
            }
            // check: SignInCodeTests.strength
            guard !found.wanted.isStrengthEssential || found.wanted.isMet(by: authentication) else {
                _ = try work.authorizations.advance(id, to: .refused, at: now)
                return .tooWeak(found.wanted)
            }
            // check: CotterIdentityTests.otherKind
            guard try work.hasProved(found.wanted, by: authentication) else {
                _ = try work.authorizations.advance(id, to: .refused, at: now)
                return .tooWeak(found.wanted)
            }
            // A device must have shown what the person authorizes in detail, and have signed it.
            // check: SignedDetailsTests.evidence
            guard found.wanted.details == nil || authentication.evidence.challenge != nil else {
                _ = try work.authorizations.advance(id, to: .refused, at: now)
                return .tooWeak(found.wanted)
            }
            // Spec: OpenID Connect Core 1.0 §3.1.2.1, max_age: the page may have been left open after the approval.
            // check: SignInTests.leftOpen
            guard !found.wanted.isTooOld(authentication, at: now, butNotWithin: Self.goingOn) else {
                _ = try work.authorizations.advance(id, to: .refused, at: now)
                return .notReady
            }
            // The device may have been removed since it approved, the address taken away, or the user unlinked. From here
            // on nothing of the user changes before the session is written.
            let cookie = former.map { SecretHash(of: $0) }
            try work.lock(authentication.user, and: try cookie.flatMap { try work.sessions.lasting($0, at: now) }?.user)
            // check: SignInCodeTests.takenAway
            guard try work.admits(authentication, to: found.client),
                try work.isGood(authentication.evidence, authentication.user, at: found.client)
            else { return .notReady }
            let needsConsent = try work.needsConsent(of: authentication.user, to: found.wanted, by: client)
            if needsConsent, answer != .allows(authentication.user) {
                // check: PasskeyTests.closed
                guard try work.isWelcome(authentication.user, at: found.client) else { return .notReady }
                return .asks(try work.question(to: authentication.user, about: found.wanted, isGiven: false))
            }
            // check: PushedRequestUseTests.strangers
            guard try work.takes(authentication.user, for: found.wanted) else { return .notReady }
            // Spec: RFC 9126 §7.3.
            // check: PushedRequestUseTests.once
            guard try work.spend(found.wanted.pushed) else {
                _ = try work.authorizations.advance(id, to: .refused, at: now)
                return .spent(found.wanted)
            }
            // check: PasskeyTests.closed
            guard try work.enters(authentication.user, client, for: found.wanted),
                try work.authorizations.advance(id, to: .granted(authentication), at: now)
            else { return .notReady }
            if needsConsent { try work.give(found.wanted, by: authentication.user) }
            // Also one that was not used for too long: its clients know the session by its names.
            let earlier = try cookie.flatMap { try work.sessions.lasting($0, at: now) }
            let renewed = earlier?.user == authentication.user ? earlier?.id : nil
            let session = Session(
                id: renewed ?? made.session, secret: made.secret, authentication, from: found.wanted.askedFrom, at: now)
            if renewed != nil {
                // Whoever ends a session has the user's lock. If one does not, the end holds: the next try sees it.
                guard try work.sessions.renew(session) else { throw StoreError.serializationFailure }
            } else {
                if let earlier { try work.endSession(earlier) }
                try work.endSurplusSessions(of: session.user)
                try work.sessions.insert(session)
            }
            // Whoever renews their own session is in no new browser.
            if renewed == nil { try work.tellOfNewBrowser(found, authentication, by: ports.transports) }
            // Whoever reads a mailbox has not shown to be at a browser of the person's.
            if !authentication.evidence.isCode {
                try work.browsers.put(found.browser, of: authentication.user, by: found.client, at: now)
            }
            try work.raise(.signedIn(found, authentication, isFresh: true))
            try work.authorizations.insert(made.code(of: id, in: session.id, at: now))
            return .finished(
                Finished(
                    wanted: found.wanted, user: authentication.user, code: made.codeText,
                    session: OpenedSession(
                        secret: made.secret, expiresAt: session.expiresAt,
                        wasOpen: renewed != nil && earlier?.isOpen(at: now) == true)))
        }
    }

    /// Gives a code in a session that goes on, if it is good enough for what the client wants.
    ///
    /// - Parameters:
    ///   - wanted: what the client wants.
    ///   - secret: the session.
    ///   - browser: what the browser's cookie holds.
    ///   - asksAlways: whether the person is asked in any case, since the client is an app.
    ///   - answer: what the person has just answered.
    ///   - ports: the external dependencies.
    /// - Returns: ``Outcome/notReady`` if the person must authenticate.
    /// - Throws: ``StoreError``.
    package static func goOn(
        _ wanted: Wanted, in secret: Secret<String>, browser: BrowserID, asksAlways: Bool = false,
        answer: ConsentAnswer = .none, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let made = Made(at: now, ports)
        return try await finishing(at: now, ports) { work in
            guard let session = try work.sessions.find(SecretHash(of: secret), at: now) else { return .notReady }
            let authentication = session.authentication
            guard let client = try work.client(accepting: wanted) else { return .clientGone }
            // No earlier sign-in says yes to it, not even the one that was for it: each yes gives one result.
            // check: AuthorizedDetailsTests.session
            guard wanted.details == nil else { return .notReady }
            // check: SignInTests.session
            guard !wanted.isFresh, try work.suffices(authentication, for: wanted),
                try work.admits(authentication, to: wanted.client), try work.is(authentication.user, hintedBy: wanted)
            else { return .notReady }
            try work.users.lock(authentication.user)
            // It may have ended, or been renewed under another value, before the lock.
            guard try work.sessions.find(SecretHash(of: secret), at: now) != nil else { return .notReady }
            // check: SignInTests.suspended
            guard try work.isGood(authentication.evidence, authentication.user, at: wanted.client) else {
                return .notReady
            }
            if wanted.isTooOld(authentication, at: now) { return .notReady }
            // check: CotterIdentityTests.session
            guard try work.hasProved(wanted, by: authentication) else { return .notReady }
            let needsConsent = try work.needsConsent(of: authentication.user, to: wanted, by: client)
            let isAnswered =
                answer == .allows(authentication.user) || !needsConsent && answer == .goesOn(authentication.user)
            if needsConsent || asksAlways, !isAnswered {
                // check: ConsentTests.closed
                guard try work.isWelcome(authentication.user, at: wanted.client) else { return .notReady }
                return .asks(
                    try work.question(to: authentication.user, about: wanted, isGiven: !needsConsent))
            }
            let count = try work.count(.codesOf(session.id))
            if count.isExceeded { return .tooMany(retryAfter: count.retryAfter(at: now)) }
            // check: PushedRequestUseTests.strangers
            guard try work.takes(authentication.user, for: wanted) else { return .notReady }
            // Spec: RFC 9126 §7.3.
            // check: PushedRequestUseTests.inSession
            guard try work.spend(wanted.pushed) else { return .spent(wanted) }
            // check: ConsentTests.closed
            guard try work.enters(authentication.user, client, for: wanted) else { return .notReady }
            if needsConsent { try work.give(wanted, by: authentication.user) }
            let authorization = Authorization(
                id: made.authorization, wanted: wanted,
                browser: work.hasher.hash(of: browser, client: wanted.client), user: authentication.user, ask: nil,
                state: .granted(authentication), expiresAt: now.adding(Authorization.lifetime))
            try work.authorizations.insert(authorization)
            try work.sessions.use(session.id, until: session.idle(at: now))
            try work.raise(.signedIn(authorization, authentication, isFresh: false))
            try work.authorizations.insert(made.code(of: authorization.id, in: session.id, at: now))
            return .finished(Finished(wanted: wanted, user: authentication.user, code: made.codeText, session: nil))
        }
    }

    /// What a page that still asks offers a browser in which the person has signed in since, in another tab.
    ///
    /// Whoever was signed in before the page asked has said that they sign in as somebody else, and nobody goes on as
    /// another than whom the page asks.
    ///
    /// - Parameters:
    ///   - open: the sign-in of the page.
    ///   - secret: the session.
    ///   - browser: what the browser's cookie holds.
    ///   - ports: the external dependencies.
    /// - Returns: the question whether they go on; nil for nothing to offer.
    /// - Throws: ``StoreError``.
    package static func offer(
        insteadOf open: Authorization, in secret: Secret<String>, browser: BrowserID, ports: Ports
    ) async throws -> ConsentQuestion? {
        guard open.state == .open, let askedAt = open.ask?.askedAt else { return nil }
        // Pages ask often, and only a new session of who was named is worth a transaction.
        let isNew = try await ports.store.read { reader in
            let found = try reader.sessions.find(SecretHash(of: secret), at: ports.time.now)
            guard let session = found, askedAt <= session.authentication.at else { return false }
            guard let name = open.wanted.identifier else { return true }
            // check: SignInTests.offer
            guard try reader.person(named: name, at: open.client, ports.hasher) == session.user else { return false }
            return true
        }
        guard isNew else { return nil }
        let outcome = try await goOn(open.wanted, in: secret, browser: browser, asksAlways: true, ports: ports)
        guard case .asks(let question) = outcome else { return nil }
        // The page could not say as whom.
        return question.isGiven && question.addresses.entries.isEmpty ? nil : question
    }

    /// Commits a finish, and looks at what the client has sent with it.
    private static func finishing(
        at now: Timestamp, _ ports: Ports, _ body: @escaping @Sendable (UnitOfWork) throws -> Outcome
    ) async throws -> Outcome {
        let outcome = try await ports.commit(at: now, as: .system, body)
        if case .finished(let finished) = outcome {
            await ConstantValues.check(finished.wanted, of: finished.user, ports: ports)
        }
        return outcome
    }

    /// The random values of one finish.
    private struct Made: Sendable {
        let authorization: AuthorizationID
        let session: SessionID
        let secret: Secret<String>
        let codeText: Secret<String>

        init(at now: Timestamp, _ ports: Ports) {
            authorization = ports.random.id(at: now)
            session = ports.random.id(at: now)
            secret = Secret(Base64URL.encode(ports.random.bytes(32)))
            codeText = Secret(Base64URL.encode(ports.random.bytes(32)))
        }

        func code(of authorization: AuthorizationID, in session: SessionID, at now: Timestamp) -> AuthorizationCode {
            AuthorizationCode(
                hash: SecretHash(of: codeText), authorization: authorization, session: session,
                expiresAt: now.adding(AuthorizationCode.lifetime))
        }
    }
}

extension Wanted {
    /// Whether an authentication is older than the client allows, and than so many seconds.
    func isTooOld(
        _ authentication: Authentication, at now: Timestamp, butNotWithin seconds: Seconds = 0
    ) -> Bool {
        guard let maximumAge else { return false }
        return authentication.at.adding(max(maximumAge, seconds)) < now
    }

    /// Whether an authentication is strong enough not to ask the person again.
    ///
    /// What the client would like, and does not need, asks a person anew only to have a device in the place of a code:
    /// more than that depends on the client's type, and asking again would bring nothing.
    fileprivate func isMet(by authentication: Authentication) -> Bool {
        guard let strength else { return true }
        return authentication.strength >= (isStrengthEssential ? strength : min(strength, .device))
    }
}

extension UnitOfWork {
    /// Locks the user who signs in, and the one whose session the browser has: in one order, whoever signs in.
    fileprivate func lock(_ user: UserID, and other: UserID?) throws {
        for locked in Set([user, other ?? user]).sorted() { try users.lock(locked) }
    }

    /// The client, if it can still be given what was checked when the sign-in began; nil otherwise.
    fileprivate func client(accepting wanted: Wanted) throws -> Client? {
        guard let (client, party) = try clients.lockWithParty(wanted.client) else { return nil }
        // check: SignInTests.ends
        guard client.disabledAt == nil else { return nil }
        // Whoever signs in to say yes to a device returns to a page of ours.
        let mayBeForDevice = party.deviceGrant != .off && isForDevice(wanted)
        return mayBeForDevice || party.redirectURI(named: wanted.redirectURI) != nil ? client : nil
    }

    /// Whether an authentication is strong enough not to ask the person again.
    ///
    /// Where people sign in by codes alone, asking again for what the client would only like would bring nothing more.
    fileprivate func suffices(_ authentication: Authentication, for wanted: Wanted) throws -> Bool {
        if wanted.isMet(by: authentication) { return true }
        return try !wanted.isStrengthEssential && relyingParties.find(wanted.client)?.hasCodesAlone == true
    }

    /// Whether a client's people may sign in by the way of an authentication.
    func admits(_ authentication: Authentication, to client: ClientID) throws -> Bool {
        try relyingParties.find(client)?.admits(authentication) ?? false
    }

    /// Whether a user may sign in at a client: the client knows them, or takes whoever signs in.
    func isWelcome(_ user: UserID, at client: ClientID) throws -> Bool {
        try links.find(.id(user), of: client) != nil || takesAnybody(client)
    }

    /// Whether a client that has pushed its request will get a code for a user: for nobody else is its request spent.
    fileprivate func takes(_ user: UserID, for wanted: Wanted) throws -> Bool {
        try wanted.pushed == nil || isWelcome(user, at: wanted.client)
    }

    private func takesAnybody(_ client: ClientID) throws -> Bool {
        switch try relyingParties.find(client)?.registration {
        case .known, .open: true
        case .closed, nil: false
        }
    }

    /// Whether somebody signs in to look at what a device has asked for.
    private func isForDevice(_ wanted: Wanted) -> Bool { wanted.redirectURI.hasSameBytes(as: issuer.devicePage) }

    /// Lets a client know a user who signs in, if it may.
    ///
    /// A third party does not know them yet where they sign in to look at what a device of it has asked for: they have
    /// allowed nothing, and may say no.
    fileprivate func enters(_ user: UserID, _ client: Client, for wanted: Wanted) throws -> Bool {
        client.isThirdParty && isForDevice(wanted) ? try isWelcome(user, at: client.id) : try admit(user, to: client.id)
    }

    /// Links a user to a client that takes whoever signs in.
    ///
    /// - Returns: false if the client does not know the user, and takes nobody.
    func admit(_ user: UserID, to client: ClientID) throws -> Bool {
        if try links.find(.id(user), of: client) != nil { return true }
        // check: SignInDeviceTests.waiting
        guard try takesAnybody(client) else { return false }
        // Nobody deletes the user meanwhile.
        try users.lock(user)
        guard let known = try users.find(user), known.deletedAt == nil else { return false }
        return try links.put(user, to: client, externalID: nil)
    }

    /// Whether a user is the one whom the client expects.
    fileprivate func `is`(_ user: UserID, hintedBy wanted: Wanted) throws -> Bool {
        guard let hint = wanted.hint, hint != .id(user) else { return true }
        return try links.find(hint, of: wanted.client)?.id == user
    }

    /// Ends the sessions of a user beside which there is no place for another one: those that were used longest ago.
    ///
    /// The caller has locked the user.
    fileprivate func endSurplusSessions(of user: UserID) throws {
        let all = try sessions.lasting(of: user, at: now).sorted { ($0.usedAt, $0.id) < ($1.usedAt, $1.id) }
        // Of the very many that there may be since before the limit, some at each sign-in.
        for session in all.dropLast(Session.maximumCount - 1).prefix(100) { try endSession(session) }
    }

    /// Ends a session, and the tokens that began in it.
    func endSession(_ session: Session) throws {
        try sessions.end(session.id, at: now)
        try tellLogout(of: session)
        try endFamilies(.session(session.id), because: .sessionEnded)
        try raise(.sessionEnded(session))
    }
}

extension RelyingParty {
    /// Whether its people may sign in by the way of an authentication.
    func admits(_ authentication: Authentication) -> Bool {
        switch authentication.evidence {
        case .approval: ways.contains(.device) || ways.contains(.qr)
        case .code(_, .email): ways.contains(.email)
        case .code(_, .phone): ways.contains(.text)
        case .passkey: ways.contains(.passkey)
        }
    }
}
