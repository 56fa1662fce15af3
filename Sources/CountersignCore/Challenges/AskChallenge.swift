package import CountersignWire
import Encodings

/// Puts a challenge to a user.
package enum AskChallenge {
    /// The request of a client.
    package typealias Request = AskRequest

    /// What of a request a type can refuse.
    package enum Part: Hashable, Sendable {
        case browser, captchaToken, details, enrollments, lifetime, methods, numberEntry, phone, returnURI,
            secureMessage, signingData
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenge, with what is shown this once.
        case asked(AskedChallenge)
        /// Nobody is asked.
        case refused(Refusal)
    }

    /// Why nobody is asked.
    package enum Refusal: Error, Hashable, Sendable {
        /// The caller may ask no more.
        case caller(CallerRefusal)
        /// Nobody is named, and the type has no code.
        case userMissing
        /// The client is linked to no such user.
        case userNotFound
        /// No such type, or none that this client may ask by.
        case typeNotFound
        /// The request says nothing, and its type has no text.
        case messageMissing
        /// No device of the user can answer.
        case noEnrollment
        /// One of the devices named is not the user's or not active.
        case enrollmentNotFound(EnrollmentID)
        /// The request would loosen its type, by this part of it.
        case notAllowedByType(Part)
        /// The callback is not one of the client's.
        case callbackNotRegistered
        /// The place to return to is not one of the client's.
        case returnNotRegistered
        /// A code is to be sent, and it is not said where.
        case phoneMissing
        /// A code is to be sent, and text messages are not set up.
        case textsNotSetUp
        /// The telephone number has had too many; try again after some seconds.
        case tooManyTexts(retryAfter: Seconds)
        /// A code is sent only for a token of this captcha that its provider takes.
        case captchaMissing(CaptchaName)
        /// The captcha's token is not good, or was brought before.
        case captchaRefused
        /// The captcha's provider cannot be asked.
        case captchaUnavailable
        /// The client has brought too many tokens; try again after some seconds.
        case tooManyCaptchas(retryAfter: Seconds)
        /// The user has reported an earlier question of this client.
        case reported
        /// Too many open challenges.
        case tooManyPending
        /// Too many asks without an approval; try again after some seconds.
        case tooManyAsks(retryAfter: Seconds)

        fileprivate static func tooManyAsks(until frees: Timestamp, now: Timestamp) -> Refusal {
            .tooManyAsks(retryAfter: max(1, Seconds(frees.seconds - now.seconds)))
        }
    }

    /// Asks.
    ///
    /// - Parameters:
    ///   - request: the question.
    ///   - caller: who asks; its secret and its rights are checked here.
    ///   - idempotency: identifies the request; nil if a repeat asks again.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func ask(
        _ request: Request, by caller: ClientCredential, idempotency: IdempotencyKey?, ports: Ports
    ) async throws -> Replayable<Outcome> {
        var request = request
        request.context = request.context?.placed(by: ports.places, in: request.locale?.tag)
        var result = try await ask(request, nil, by: caller, idempotency, ports)
        // Only now it is known by which type a code would be sent; what is written is that the provider will be asked.
        if case .done(.refused(.captchaMissing(let name))) = result, let token = request.captchaToken {
            let checked = await CheckedCaptcha.check(token, by: name, ports: ports)
            result = try await ask(request, checked, by: caller, idempotency, ports)
        }
        if result == .done(.refused(.caller(.unknown))) { ports.forget(caller) }
        return result
    }

    /// Asks, with what is known of the captcha's token.
    private static func ask(
        _ request: Request, _ checked: CheckedCaptcha?, by caller: ClientCredential, _ idempotency: IdempotencyKey?,
        _ ports: Ports
    ) async throws -> Replayable<Outcome> {
        let now = ports.time.now
        let inputs = RandomInputs(
            challenge: ports.random.id(at: now), nonce: ports.random.bytes(32),
            number: EntryNumber(value: ports.random.number(below: 1_000_000)))
        let sendsTexts = ports.transports.text
        let limits = ports.limits
        return try await ports.commit(at: now, as: caller.actor) { work in
            // Nothing would cancel what a client asks that is being disabled.
            let held = try work.clients.lock(caller.client, asking: request.type)
            if let refusal = try work.stores.refusal(of: caller, as: held?.client, needing: .challenges, at: now) {
                return Replayable.done(Outcome.refused(.caller(refusal)))
            }
            guard let (client, type) = held else { preconditionFailure("an unknown client is refused") }
            return try work.once(idempotency, request) {
                let asked: Decided
                do {
                    asked = try decide(request, type, by: client, inputs, sendsTexts: sendsTexts, in: work)
                } catch let refusal as Refusal {
                    return .refused(refusal)
                }
                if let refusal = try work.refusal(
                    needing: asked.captcha, by: client.id, request.captchaToken, checked)
                {
                    return .refused(refusal)
                }
                if let refusal = try work.refusal(of: asked, within: limits) {
                    return .refused(refusal)
                }
                try work.ask(asked.challenge, of: asked.enrollments, telling: asked.pushed)
                if let text = asked.text { try work.send(text, of: asked.challenge) }
                return .asked(AskedChallenge(asked))
            }
        }
    }

    /// Decides by the type that is asked by, or by the one it falls back to where no device can answer.
    private static func decide(
        _ request: Request, _ type: ChallengeType?, by client: Client, _ inputs: RandomInputs, sendsTexts: Bool,
        in work: UnitOfWork
    ) throws -> Decided {
        let facts = try Facts(for: request, type, by: client, sendsTexts: sendsTexts, in: work)
        /// Decides by another type, which must be there, and for this client.
        func decide(by other: TypeName, otherwise refusal: Refusal, needsCode: Bool = false) throws -> Decided {
            var request = request
            request.type = other
            let facts: Facts
            do {
                facts = try Facts(
                    for: request, try work.types.find(other), by: client, sendsTexts: sendsTexts, in: work)
            } catch is Refusal {
                throw refusal
            }
            guard facts.type.channel == .code || !needsCode else { throw refusal }
            do throws(Refusal) {
                return try Self.decide(request, facts, inputs, issuer: work.issuer, hasher: work.hasher)
            } catch {
                // A code cannot be sent instead of this.
                throw facts.type.channel == .text && error.isOfText ? refusal : error
            }
        }
        // Anybody who knows a user's name could have them asked. From an unknown browser, the user must scan a code instead.
        if let type = facts.type.unknownBrowser, try !isKnown(request.browser, facts, in: work) {
            return try decide(by: type, otherwise: .notAllowedByType(.browser), needsCode: true)
        }
        do {
            return try Self.decide(request, facts, inputs, issuer: work.issuer, hasher: work.hasher)
        } catch Refusal.noEnrollment {
            // One that is not there is as good as none.
            guard let fallback = facts.type.fallback else { throw Refusal.noEnrollment }
            return try decide(by: fallback, otherwise: .noEnrollment)
        }
    }

    private static func isKnown(
        _ browser: BrowserID?, _ facts: Facts, in work: UnitOfWork
    ) throws -> Bool {
        guard let browser, let user = facts.user else { return false }
        let hash = work.hasher.hash(of: browser, client: facts.client.id)
        return try work.browsers.isKnown(hash, of: user, by: facts.client.id)
    }
}

extension UnitOfWork {
    /// Why a client may not ask now; nil where it may, and the ask is then counted.
    fileprivate func refusal(
        of asked: AskChallenge.Decided, within limits: ClientLimits
    ) throws -> AskChallenge.Refusal? {
        switch asked.challenge.channel {
        case .devices: return nil
        case .text: return try asked.text.flatMap { try refusal(of: $0, for: asked.challenge, atMost: limits.texts) }
        case .code:
            let client = asked.challenge.question.client
            let asks = try count(.codeAsks(client, maximum: limits.codeAsks))
            return asks.isExceeded ? .tooManyAsks(retryAfter: asks.retryAfter(at: now)) : nil
        }
    }

    /// Puts a question to devices.
    ///
    /// - Parameters:
    ///   - challenge: the question.
    ///   - enrollments: the devices.
    ///   - pushed: those among them that are notified by push.
    func ask(
        _ challenge: Challenge, of enrollments: [EnrollmentID], telling pushed: [EnrollmentID]
    ) throws {
        try challenges.insert(challenge, targets: enrollments)
        try raise(.challengeAsked(challenge, of: enrollments, telling: pushed))
    }
}

extension AskChallenge {
    /// The random values of one ask.
    struct RandomInputs: Sendable {
        let challenge: ChallengeID
        let nonce: [UInt8]
        let number: EntryNumber
    }

    /// What a decision to ask comes to.
    struct Decided: Sendable {
        let challenge: Challenge
        /// The number to show; nil when none must be typed.
        let number: EntryNumber?
        /// The code to show; nil where devices were asked.
        let code: ShownCode?
        let enrollments: [EnrollmentID]
        /// Which of them are notified by push.
        let pushed: [EnrollmentID]
        /// What is sent by text message; nil where devices are asked.
        let text: SentCode?
        /// The captcha that must have been solved before; nil for none.
        let captcha: CaptchaName?
    }

    /// The state that a decision depends on.
    struct Facts: Sendable {
        let client: Client
        let user: UserID?
        let type: ChallengeType
        let enrollments: [Enrollment]
        let isLocked: Bool
        let openChallenges: Int
        let recentAsks: [RecentAsk]
        var sendsTexts = false
        let now: Timestamp
    }

    /// Decides on a request: a challenge, or why not.
    ///
    /// - Parameters:
    ///   - request: what is asked.
    ///   - facts: the state that the decision depends on.
    ///   - inputs: the random values of the ask.
    ///   - purpose: what the challenge is asked for.
    ///   - browser: the browser to learn from an approval; nil for the one that the request names.
    ///   - issuer: the issuer.
    ///   - hasher: hashes the number, and the browser of the request.
    static func decide(
        _ request: Request, _ facts: Facts, _ inputs: RandomInputs, purpose: Purpose = .relyingParty,
        browser: KeyedHash? = nil, issuer: Issuer, hasher: KeyedHasher
    ) throws(Refusal) -> Decided {
        let type = facts.type
        try checkTightening(request, of: type)
        let callbackURI = try callback(request, of: facts.client)
        let returnURI = try returnURI(request, of: facts.client)
        let channel: Channel
        switch type.channel {
        case .devices:
            try checkLimits(facts)
            channel = .devices
        case .text:
            try checkLimits(facts)
            channel = .text
        // No device is notified of a code, and the user starts what leads to one: limits on asks do not apply.
        case .code: channel = .code(.awaited, returnURI: returnURI)
        }
        let phone = try phone(request, facts)
        let enrollments = try enrollments(request, facts)
        guard let alert = request.message ?? type.text(in: request.locale?.tag) else { throw .messageMissing }
        let number = channel == .text || request.numberEntry ?? type.numberEntry ? inputs.number : nil
        guard let nonce = Nonce(bytes: inputs.nonce) else { preconditionFailure("a nonce has 32 bytes") }
        let question = Question(
            challenge: inputs.challenge, nonce: nonce, issuer: issuer, client: facts.client.id,
            clientName: facts.client.name, type: type.name, context: request.context?.line,
            askedAt: facts.now, details: request.details, signingData: request.signingData?.text,
            message: request.secureMessage ?? alert)
        // Without a named user no browser is learnt: the person who scans the code may have been shown it by somebody else.
        let browser = browser ?? request.browser.map { hasher.hash(of: $0, client: facts.client.id) }
        let challenge = Challenge(
            question: question, user: facts.user, channel: channel, purpose: purpose, alert: alert,
            methods: request.methods ?? type.methods,
            numberHash: number.map { hasher.hash(of: $0, challenge: inputs.challenge) },
            attempts: type.attempts ?? (channel == .text ? EnterCode.usualAttempts : nil),
            expiresAt: facts.now.adding(request.lifetime ?? type.lifetime),
            callbackURI: callbackURI, callbackForm: request.callbackForm, clientState: request.clientState,
            locale: request.locale,
            browser: facts.user == nil ? nil : browser, state: .pending)
        return Decided(
            challenge: challenge, number: channel == .text ? nil : number,
            code: ShownCode(of: challenge, at: facts.now, hasher),
            enrollments: enrollments.map(\.id),
            pushed: enrollments.filter { $0.push != nil }.map(\.id),
            text: phone.map { SentCode(code: inputs.number, phone: $0) }, captcha: type.captcha)
    }

    /// A request can only tighten its type.
    ///
    /// Spec: docs/protocol/relying-party.md, *Ask*.
    private static func checkTightening(_ request: Request, of type: ChallengeType) throws(Refusal) {
        if request.numberEntry == false, type.numberEntry { throw .notAllowedByType(.numberEntry) }
        if let lifetime = request.lifetime, lifetime > type.lifetime {
            throw .notAllowedByType(.lifetime)
        }
        if let methods = request.methods, !methods.allSatisfy(type.methods.contains) {
            throw .notAllowedByType(.methods)
        }
        // A type that can lead to a code takes what the code needs.
        if request.returnURI != nil, type.channel != .code, type.unknownBrowser == nil, type.fallback == nil {
            throw .notAllowedByType(.returnURI)
        }
        if request.phone != nil, type.channel != .text, type.fallback == nil {
            throw .notAllowedByType(.phone)
        }
        if request.captchaToken != nil, type.channel != .text, type.fallback == nil {
            throw .notAllowedByType(.captchaToken)
        }
        if type.channel == .text {
            // The text message is all that the user sees, and nothing is signed.
            if request.numberEntry == true { throw .notAllowedByType(.numberEntry) }
            if !request.details.isEmpty { throw .notAllowedByType(.details) }
            if request.secureMessage != nil { throw .notAllowedByType(.secureMessage) }
            if request.enrollments != nil { throw .notAllowedByType(.enrollments) }
        }
        if request.signingData != nil, !type.signingData { throw .notAllowedByType(.signingData) }
    }

    private static func callback(_ request: Request, of client: Client) throws(Refusal) -> CallbackURI? {
        guard let named = request.callbackURI?.description else { return nil }
        guard let uri = client.callbackURIs.first(where: { $0.description.hasSameBytes(as: named) }) else {
            throw .callbackNotRegistered
        }
        return uri
    }

    /// Where a code is sent; nil where none is.
    private static func phone(_ request: Request, _ facts: Facts) throws(Refusal) -> PhoneNumber? {
        guard facts.type.channel == .text else { return nil }
        guard let phone = request.phone else { throw .phoneMissing }
        guard facts.sendsTexts else { throw .textsNotSetUp }
        return phone
    }

    private static func returnURI(_ request: Request, of client: Client) throws(Refusal) -> ReturnURI? {
        guard let named = request.returnURI?.description else { return nil }
        guard let uri = client.returnURIs.first(where: { $0.description.hasSameBytes(as: named) }) else {
            throw .returnNotRegistered
        }
        return uri
    }

    /// Spec: NIST SP 800-63B-4 §3.1.3.2 (limit the asks since the last success), OWASP ASVS 6.6.4.
    private static func checkLimits(_ facts: Facts) throws(Refusal) {
        // check: AskDecisionTests.locked
        guard !facts.isLocked else { throw .reported }
        // check: AskDecisionTests.openChallenges
        guard facts.openChallenges < facts.type.maximumPending else { throw .tooManyPending }
        let sinceSuccess = facts.recentAsks.prefix { $0.outcome != .approved }
        if let oldest = sinceSuccess.last, sinceSuccess.count >= facts.type.maximumAsks {
            throw .tooManyAsks(until: oldest.askedAt.adding(ChallengeType.askWindow), now: facts.now)
        }
        let denials = sinceSuccess.compactMap { if case .denied(let time) = $0.outcome { time } else { nil } }
        let pause = facts.type.pause(afterDenials: denials.count)
        // This ask waited for its transaction, so that a denial may be later than it. Without a pause that is no reason to refuse.
        guard pause > 0, let last = denials.max() else { return }
        let frees = last.adding(pause)
        if facts.now < frees { throw .tooManyAsks(until: frees, now: facts.now) }
    }

    private static func enrollments(_ request: Request, _ facts: Facts) throws(Refusal) -> [Enrollment] {
        switch facts.type.channel {
        case .text: return []
        case .code:
            guard request.enrollments == nil else { throw .notAllowedByType(.enrollments) }
            return []
        case .devices: break
        }
        let methods = request.methods ?? facts.type.methods
        // What must be read to be approved is put to devices alone that sign what they show.
        let needsReceipt = request.numberEntry == true || !request.details.isEmpty || request.signingData != nil
        let able = facts.enrollments.filter {
            $0.satisfies(facts.type) && $0.canAnswer(by: methods, at: facts.now)
                && ($0.signsReceipts || !needsReceipt)
        }
        guard let named = request.enrollments else {
            guard !able.isEmpty else { throw .noEnrollment }
            return able
        }
        for id in named where !able.contains(where: { $0.id == id }) { throw .enrollmentNotFound(id) }
        return able.filter { named.contains($0.id) }
    }
}

extension AskChallenge.Facts {
    fileprivate init(
        for request: AskChallenge.Request, _ type: ChallengeType?, by client: Client, sendsTexts: Bool,
        in work: UnitOfWork
    ) throws {
        let user = try request.user.map { reference in
            guard let user = try work.links.find(reference, of: client.id) else {
                throw AskChallenge.Refusal.userNotFound
            }
            return user.id
        }
        guard let type, type.isOpen(to: client.id) else {
            throw AskChallenge.Refusal.typeNotFound
        }
        guard user != nil || type.channel == .code else { throw AskChallenge.Refusal.userMissing }
        self.client = client
        self.user = user
        self.type = type
        self.sendsTexts = sendsTexts
        now = work.now
        guard let user, type.channel != .code else {
            (enrollments, isLocked, openChallenges, recentAsks) = ([], false, 0, [])
            return
        }
        enrollments = try work.enrollments.believed(of: user, in: client.trustGroup)
        let asks = try work.challenges.asks(
            of: user, by: client.id, now: now, since: now.adding(-ChallengeType.askWindow),
            limits: (type.maximumPending, type.maximumAsks))
        (isLocked, openChallenges, recentAsks) = (asks.isLocked, asks.open, asks.recent)
    }
}
