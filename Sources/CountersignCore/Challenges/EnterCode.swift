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
            if tried <= limit, hasher.matches(hash, number: code, challenge: id) {
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
}

extension StoreWriter {
    /// Counts a text message to a telephone number, of which only a keyed hash is kept.
    ///
    /// - Returns: after how many seconds to come again where there were too many; nil where there were not.
    func countText(to phone: PhoneNumber, _ hasher: KeyedHasher, at now: Timestamp) throws -> Int64? {
        let counted = try countAttempt("text code \(hasher.name(of: .phone(phone)))", window: EnterCode.window, at: now)
        return counted.number > EnterCode.limit ? counted.retryAfter(at: now) : nil
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
