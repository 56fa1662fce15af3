package import CountersignWire
import Encodings

/// Asks a person's trusted devices whether they want to sign in at a client.
///
/// The outcome looks the same whether there is such a person or not, and whether their devices are asked: a number, and
/// a time until which it can be typed.
package enum AskSignIn {
    /// How long a number can be typed.
    package static let lifetime = Seconds.minutes(2)
    /// How long a code can be scanned; it is shown anew each minute.
    package static let codeLifetime = ChallengeType.longestCode

    /// By which way a person's devices come to be asked.
    package enum Way: Hashable, Sendable {
        /// The person has said who they are, and types a number on a device of theirs.
        case device
        /// The person scans a code with a device of theirs.
        case code
    }

    /// What is asked, by whom, from where.
    package struct Request: Sendable {
        /// The way that the person has chosen.
        package let way: Way
        /// What the page carried: what the client wants and, if devices were asked before, for which sign-in.
        package let carried: CarriedSignIn
        /// What the browser's cookie holds.
        package let browser: BrowserID
        /// From where the sign-in was started.
        package let place: ContextLine?
        /// The caller's network.
        package let network: [UInt8]?

        /// A request of these parts.
        package init(
            _ carried: CarriedSignIn, by way: Way, browser: BrowserID, place: ContextLine?, network: [UInt8]?
        ) {
            self.way = way
            self.carried = carried
            self.browser = browser
            self.place = place
            self.network = network
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The sign-in, with the number to show.
        case asked(Authorization)
        /// The client is disabled, or uses the provider no more.
        case clientGone
        /// The earlier sign-in is another browser's, or is over.
        case tooLate
        /// The network has started too many sign-ins; try again after some seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// Asks.
    ///
    /// - Throws: ``StoreError``.
    package static func ask(_ request: Request, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let inputs = AskChallenge.RandomInputs(
            challenge: ports.random.id(at: now), nonce: ports.random.bytes(32),
            number: EntryNumber(value: ports.random.number(below: 1_000_000)))
        let id = request.carried.signIn ?? ports.random.id(at: now)
        let wanted = request.carried.wanted
        return try await ports.commit(at: now, as: .system) { work in
            // Nothing would cancel what is asked for a client that is being disabled.
            guard let client = try work.clients.lock(wanted.client), client.disabledAt == nil,
                let party = try work.relyingParties.find(client.id),
                let type = try work.types.find(request.way == .code ? .qr : party.type), type.isOpen(to: client.id)
            else { return .clientGone }
            if let network = request.network {
                let count = try work.count(.signInsFrom(network))
                if count.isExceeded { return .tooMany(retryAfter: count.retryAfter(at: now)) }
            }
            let browser = work.hasher.hash(of: request.browser, client: client.id)
            if let earlier = request.carried.signIn, try !work.endAsk(of: earlier, in: browser) { return .tooLate }
            let authorization: Authorization
            let asked: AskChallenge.Decided?
            let until: Timestamp
            switch request.way {
            case .device:
                let user = try wanted.identifier.flatMap { try work.links.find(.externalID($0), of: client.id)?.id }
                let isKnown = try user.map { try work.browsers.isKnown(browser, of: $0, by: client.id) } ?? false
                asked = try user.flatMap { user in
                    try work.challenge(
                        to: user, type, by: client, party, isBrowserKnown: isKnown, browser, id, request.place, inputs)
                }
                until = now.adding(lifetime)
                authorization = Authorization(
                    id: id, wanted: wanted, browser: browser, user: user,
                    ask: Authorization.Ask(
                        .number(inputs.number), until: until, challenge: asked?.challenge.id, isBrowserKnown: isKnown),
                    state: .open, expiresAt: now.adding(Authorization.lifetime))
            case .code:
                let count = try work.count(.signInCodes(client.id, maximum: ports.limits.codeAsks))
                if count.isExceeded { return .tooMany(retryAfter: count.retryAfter(at: now)) }
                asked = work.challenge(toWhoever: type, by: client, id, request.place, inputs)
                guard let asked else { return .clientGone }
                until = asked.challenge.expiresAt
                authorization = Authorization(
                    id: id, wanted: wanted, browser: browser, user: nil,
                    ask: Authorization.Ask(.code, until: until, challenge: asked.challenge.id, isBrowserKnown: false),
                    state: .open, expiresAt: now.adding(Authorization.lifetime))
            }
            if request.carried.signIn == nil {
                try work.authorizations.insert(authorization)
            } else {
                guard try work.authorizations.askAgain(authorization, at: now) else { return .tooLate }
            }
            if let asked { try work.ask(asked.challenge, of: asked.enrollments, telling: asked.pushed) }
            return .asked(authorization)
        }
    }
}

extension UnitOfWork {
    /// Ends the latest ask of a sign-in, before another one: only the newest number counts.
    ///
    /// - Returns: false if there is no such sign-in in this browser, or if it is not open.
    fileprivate func endAsk(of id: AuthorizationID, in browser: KeyedHash) throws -> Bool {
        guard let found = try authorizations.find(id), found.browser == browser, found.state == .open else {
            return false
        }
        if let challenge = try found.ask?.challenge.flatMap({ try challenges.find($0) }) {
            try endChallenge(challenge, as: .cancelled)
        }
        return true
    }

    /// The question to a person's devices; nil if they are not asked.
    ///
    /// Their devices are not asked from a browser that the client's settings exclude, beyond the budget, while a sign-in
    /// of theirs is open in another browser, or if no device can answer.
    fileprivate func challenge(
        to user: UserID, _ type: ChallengeType, by client: Client, _ party: RelyingParty, isBrowserKnown: Bool,
        _ browser: KeyedHash, _ id: AuthorizationID, _ place: ContextLine?, _ inputs: AskChallenge.RandomInputs
    ) throws -> AskChallenge.Decided? {
        guard isBrowserKnown || party.askedBrowsers == .all else { return nil }
        try users.lock(user)
        for open in try challenges.open(of: user) where open.isOpen(at: now) {
            guard let other = try open.purpose.authorization.flatMap({ try authorizations.find($0) }) else { continue }
            // The person begins again in another tab, or goes before somebody at a browser that is not theirs.
            let gives = other.browser == browser || isBrowserKnown && other.ask?.isBrowserKnown == false
            guard gives else { return nil }
            try endChallenge(open, as: .cancelled)
        }
        // Spec: NIST SP 800-63B-4 §3.1.3.2, OWASP ASVS 6.6.4. The budget is the user's over all clients.
        guard try !count(.signInAsks(user, isBrowserKnown: isBrowserKnown)).isExceeded else { return nil }
        let request = Self.question(.id(user), type, by: client, place, for: AskSignIn.lifetime)
        let facts = AskChallenge.Facts(
            client: client, user: user, type: type, enrollments: try enrollments.active(of: user), isLocked: false,
            openChallenges: 0, recentAsks: [], now: now)
        do throws(AskChallenge.Refusal) {
            return try AskChallenge.decide(
                request, facts, inputs, purpose: .authorization(id), browser: browser, issuer: issuer, hasher: hasher)
        } catch {
            return nil
        }
    }

    /// The question to whoever scans its code; nil if the type does not allow it.
    fileprivate func challenge(
        toWhoever type: ChallengeType, by client: Client, _ id: AuthorizationID, _ place: ContextLine?,
        _ inputs: AskChallenge.RandomInputs
    ) -> AskChallenge.Decided? {
        let request = Self.question(nil, type, by: client, place, for: AskSignIn.codeLifetime)
        let facts = AskChallenge.Facts(
            client: client, user: nil, type: type, enrollments: [], isLocked: false, openChallenges: 0, recentAsks: [],
            now: now)
        return try? AskChallenge.decide(
            request, facts, inputs, purpose: .authorization(id), issuer: issuer, hasher: hasher)
    }

    private static func question(
        _ user: UserReference?, _ type: ChallengeType, by client: Client, _ place: ContextLine?, for lifetime: Seconds
    ) -> AskRequest {
        var request = AskRequest(user: user, type: type.name, message: nil)
        if type.texts.isEmpty { request.message = try? DisplayMessage("Sign in to \(client.name.text)?") }
        request.context = place
        request.lifetime = min(lifetime, type.lifetime)
        return request
    }
}
