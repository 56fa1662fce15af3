public import CountersignWire

/// A code on its way to a telephone.
struct SentCode: Sendable {
    let code: EntryNumber
    let phone: PhoneNumber
}

/// Takes the six digits that a user has typed, where this was started, from a text message.
///
/// Of all ways to answer it is the weakest, and the only one that needs no device of ours: telephone numbers are taken
/// over, and whoever is deceived reads out what they get. What comes of it is therefore called by a name of its own and
/// leaves no receipt. Spec: NIST SP 800-63B-4 §3.1.3.3.
public enum EnterCode {
    /// How often it may be typed where the type does not say.
    static let usualAttempts = 3
    /// How many codes a telephone number gets within the window, whoever asks.
    static let limit = 5
    /// The window, in seconds.
    static let window: Int64 = 3600
    /// How many wrong ones there may be in a row, over all challenges of a client and a user, before no more are sent.
    ///
    /// Spec: NIST SP 800-63B-4 §3.2.2.
    static let maximumWrong = 100
    /// For how long they count, from the first of them, in seconds.
    static let wrongWindow: Int64 = 30 * 86400

    /// What came of it.
    public enum Outcome: Sendable {
        /// It is the right one.
        case approved(Challenge)
        /// It is not; after the last attempt the challenge has failed.
        case incorrect(attemptsLeft: Int)
        /// No code was sent for it.
        case noCode
        /// It had ended.
        case alreadyEnded(ChallengeStanding)
        /// The client has no such challenge.
        case notFound
    }

    /// Takes a code.
    ///
    /// - Parameters:
    ///   - code: what was typed.
    ///   - id: the challenge.
    ///   - client: whose challenge.
    ///   - ports: the world.
    public static func enter(
        _ code: EntryNumber, for id: ChallengeID, by client: ClientID, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { [hasher = ports.hasher] writer in
            guard let challenge = try writer.challenge(id), challenge.question.client == client else {
                return .notFound
            }
            guard challenge.isText, let user = challenge.user else { return .noCode }
            guard try writer.linkedUser(.id(user), of: client) != nil else { return .notFound }
            guard challenge.isOpen(at: now), let hash = challenge.numberHash else {
                return .alreadyEnded(challenge.standing(at: now))
            }
            // Counted before it is looked at, so that many at once are no more than the limit.
            let limit = challenge.attempts ?? usualAttempts
            let tried = try writer.countAttempt("text code \(id)", window: window, at: now).number
            let key = wrongInARow(challenge)
            let inARow = try writer.countAttempt(key, window: wrongWindow, at: now).number
            if tried <= limit, inARow <= maximumWrong, hasher.matches(hash, number: code, challenge: id) {
                try writer.forgetAttempts(key)
                if let earlier = try writer.finish(challenge, as: .entered, at: now, events) {
                    return .alreadyEnded(earlier)
                }
                return try writer.challenge(id).map(Outcome.approved) ?? .notFound
            }
            guard tried >= limit else { return .incorrect(attemptsLeft: limit - tried) }
            _ = try writer.finish(challenge, as: .failed(.tooManyAttempts), at: now, events)
            return .incorrect(attemptsLeft: 0)
        }
    }

    fileprivate static func wrongInARow(_ challenge: Challenge) -> String {
        "wrong text codes \(challenge.question.client) \(challenge.user.map { "\($0)" } ?? "-")"
    }
}

extension StoreWriter {
    /// Why the code of a challenge may not be sent now; nil where it may, and is counted.
    ///
    /// Of a telephone number only a keyed hash is kept.
    func refusal(
        of text: SentCode, for challenge: Challenge, atMost limit: Int, _ hasher: KeyedHasher, at now: Timestamp
    ) throws -> AskChallenge.Refusal? {
        let key = EnterCode.wrongInARow(challenge)
        if let wrong = try attempts(key, at: now), wrong.number >= EnterCode.maximumWrong {
            return .tooManyAsks(retryAfter: wrong.retryAfter(at: now))
        }
        // The client's first, so that what it may not send is not counted against the number.
        let budget = "text codes \(challenge.question.client)"
        if let spent = try attempts(budget, at: now), spent.number >= limit {
            return .tooManyTexts(retryAfter: spent.retryAfter(at: now))
        }
        let number = hasher.name(of: .phone(text.phone))
        let sent = try countAttempt("text code \(number)", window: EnterCode.window, at: now)
        guard sent.number <= EnterCode.limit else { return .tooManyTexts(retryAfter: sent.retryAfter(at: now)) }
        _ = try countAttempt(budget, window: EnterCode.window, at: now)
        return nil
    }

    /// Sends the code of a challenge, for as long as it can be typed.
    func send(_ text: SentCode, of challenge: Challenge, as id: EventID, at now: Timestamp) throws {
        let minutes = max(1, (challenge.expiresAt.seconds - now.seconds) / 60)
        let message = PersonalMessage.code(
            text.code, minutes: Int(minutes), of: challenge.question.clientName, asking: challenge.alert,
            in: challenge.locale.flatMap { LanguageTag($0) })
        try enqueue(
            OutboxMessage(
                id: id, content: .personal(message, to: .phone(text.phone), client: challenge.question.client),
                dueAt: now, expiresAt: challenge.expiresAt))
        wake(.outbox)
    }
}

extension AskChallenge.Refusal {
    /// Whether it says that a code cannot be sent for a request.
    var isOfText: Bool {
        switch self {
        case .phoneMissing, .textsNotSetUp, .notAllowedByType: true
        default: false
        }
    }
}
