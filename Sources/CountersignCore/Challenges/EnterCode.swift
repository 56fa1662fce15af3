package import CountersignWire

/// A code on its way to a telephone.
struct SentCode: Equatable, Sendable {
    let code: EntryNumber
    let phone: PhoneNumber
}

/// Takes the six digits that a user has typed, where this was started, from a text message.
///
/// This is the weakest way to answer, and the only one without an enrolled device: telephone numbers are taken over, and
/// a user who is deceived reads the code out. Its outcome therefore has a name of its own and leaves no receipt. Spec: NIST SP 800-63B-4 §3.1.3.3.
package enum EnterCode {
    /// How often it may be typed where the type does not say.
    static let usualAttempts = 3

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is the right one.
        case approved(Challenge)
        /// It is not; after the last attempt the challenge has failed.
        case incorrect(attemptsLeft: Int)
        /// No code was sent for it.
        case noCode
        /// It had ended.
        case alreadyEnded(ChallengeStatus)
        /// The client has no such challenge.
        case notFound
    }

    /// Takes a code.
    ///
    /// - Parameters:
    ///   - code: what was typed.
    ///   - id: the challenge.
    ///   - caller: whose challenge.
    ///   - ports: the external dependencies.
    package static func enter(
        _ code: EntryNumber, for id: ChallengeID, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let challenge = try work.challenges.find(id), challenge.isShown(to: caller.client.id) else {
                return .notFound
            }
            guard challenge.channel == .text, let user = challenge.user else { return .noCode }
            guard try work.links.find(.id(user), of: caller.client.id) != nil else { return .notFound }
            if let status = try work.endedStatus(of: challenge) { return .alreadyEnded(status) }
            guard let hash = challenge.numberHash else { return .noCode }
            let typed = try work.count(.typedTextCodes(id, maximum: challenge.attempts ?? usualAttempts))
            let inARow = try work.count(.wrongTextCodes(caller.client.id, user))
            if !typed.isExceeded, !inARow.isExceeded, hash == work.hasher.hash(of: code, challenge: id) {
                try work.forget(inARow.limit)
                switch try work.endChallenge(challenge, as: .entered) {
                case .ended(let approved): return .approved(approved)
                case .alreadyEnded(let status): return .alreadyEnded(status)
                }
            }
            guard typed.isUsedUp else { return .incorrect(attemptsLeft: typed.left) }
            try work.endChallenge(challenge, as: .failed(.tooManyAttempts))
            return .incorrect(attemptsLeft: 0)
        }
    }
}

extension UnitOfWork {
    /// Why the code of a challenge may not be sent now; nil where it may, and is counted.
    ///
    /// Of a telephone number only a keyed hash is kept.
    func refusal(
        of text: SentCode, for challenge: Challenge, atMost limit: Int
    ) throws -> AskChallenge.Refusal? {
        let client = challenge.question.client
        let wrong = try counted(.wrongTextCodes(client, challenge.user))
        guard !wrong.isUsedUp else { return .tooManyAsks(retryAfter: wrong.retryAfter(at: now)) }
        // The client's first, so that what it may not send is not counted against the number.
        let budget = try counted(.textCodesOf(client, maximum: limit))
        guard !budget.isUsedUp else { return .tooManyTexts(retryAfter: budget.retryAfter(at: now)) }
        let sent = try count(.textCodes(to: hasher.name(of: .phone(text.phone))))
        guard !sent.isExceeded else { return .tooManyTexts(retryAfter: sent.retryAfter(at: now)) }
        // Another one may have come between.
        let sends = try count(budget.limit)
        return sends.isExceeded ? .tooManyTexts(retryAfter: sends.retryAfter(at: now)) : nil
    }

    /// Sends the code of a challenge, for as long as it can be typed.
    func send(_ text: SentCode, of challenge: Challenge) throws {
        let minutes = max(1, (challenge.expiresAt.seconds - now.seconds) / 60)
        let message = PersonalMessage.code(
            text.code, minutes: Int(minutes), of: challenge.question.clientName, asking: challenge.alert,
            in: challenge.locale?.tag)
        try outbox.enqueue(
            OutboxMessage(
                id: nextID(),
                content: .personal(message, to: .phone(text.phone), client: challenge.question.client),
                dueAt: now, expiresAt: challenge.expiresAt))
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
