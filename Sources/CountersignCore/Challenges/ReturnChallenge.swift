public import CountersignWire
public import Encodings

/// Releases an approval that was given on the device where everything was started.
///
/// Whoever opens a link may not be the one who asked for it: they may have been sent it. What they approve therefore
/// comes to light only when the client presents the code that their device brought back, from the browser session that
/// asked. Spec: design 3.7.
public enum ReturnChallenge {
    /// How long a device has to bring the code back, in seconds.
    static let window: Int64 = 120

    /// What came of it.
    public enum Outcome: Equatable, Sendable {
        /// It is approved.
        case released(Challenge)
        /// The code is another one's, or nothing was approved.
        case codeInvalid
        /// It had ended before.
        case alreadyEnded(ChallengeStatus)
        /// The client has no such challenge.
        case notFound
        /// Too many wrong codes.
        case rateLimited(retryAfter: Int64)
    }

    /// Presents the code that a device brought back.
    ///
    /// - Parameters:
    ///   - code: the code.
    ///   - id: the challenge, as the browser session has it that brings the code.
    ///   - client: whose challenge.
    ///   - ports: the world.
    public static func present(
        _ code: Secret<String>, for id: ChallengeID, by client: ClientID, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let isRight = code.isSame(as: ports.hasher.returnCode(of: id))
        return try await ports.commit(at: now) { work in
            guard let challenge = try work.challenges.find(id), challenge.question.client == client else {
                return .notFound
            }
            if let status = try work.endedStatus(of: challenge) { return .alreadyEnded(status) }
            // Before the approval nobody can know the code, whatever is presented.
            guard case .returning(let method, let enrollment) = challenge.state, isRight else {
                let wrong = try work.count(.wrongReturnCodes(id))
                return wrong.isExceeded ? .rateLimited(retryAfter: wrong.retryAfter(at: now)) : .codeInvalid
            }
            // Looked at here, which keeps it from changing until this commits: what a device that is gone or
            // suspended has approved is approved by nobody.
            let outcome: ChallengeOutcome =
                switch try work.enrollments.state(enrollment) {
                case .active: .approved(method, by: enrollment)
                case .suspended: .failed(.deviceSuspended)
                case .removed, nil: .failed(.deviceRemoved)
                }
            let end = try work.endChallenge(challenge, as: outcome)
            guard case .approved = outcome, case .ended(let released) = end else { return .alreadyEnded(end.status) }
            return .released(released)
        }
    }
}

extension UnitOfWork {
    /// Keeps an approval until its code is presented.
    ///
    /// - Returns: whether it is kept: nothing else came before.
    func holdForReturn(
        _ challenge: Challenge, approvedBy method: AnswerMethod, on enrollment: Enrollment
    ) throws -> Bool {
        let until = max(challenge.expiresAt, now.adding(seconds: ReturnChallenge.window))
        guard try challenges.holdForReturn(challenge.id, approvedBy: method, on: enrollment.id, until: until, at: now)
        else { return false }
        try raise(.challengeHeld(challenge, method, by: enrollment))
        return true
    }
}
