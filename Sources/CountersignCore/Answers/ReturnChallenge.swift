package import CountersignWire
package import Encodings

/// Releases an approval that was given on the device where everything was started.
///
/// Somebody else may have sent the user the link. The approval therefore stays hidden from the client until the browser
/// session that asked presents the code that the user's device brought back to it. Spec: design 3.7.
package enum ReturnChallenge {
    /// How long a device has to bring the code back.
    static let window = Seconds.minutes(2)

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is approved.
        case released(Challenge)
        /// The code is another one's, or nothing was approved.
        case codeInvalid
        /// It had ended before.
        case alreadyEnded(ChallengeStatus)
        /// The client has no such challenge.
        case notFound
        /// Too many wrong codes.
        case rateLimited(retryAfter: Seconds)
    }

    /// Presents the code that a device brought back.
    ///
    /// - Parameters:
    ///   - code: the code.
    ///   - id: the challenge, as the browser session has it that brings the code.
    ///   - caller: whose challenge.
    ///   - ports: the external dependencies.
    package static func present(
        _ code: Secret<String>, for id: ChallengeID, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let isRight = code.isSame(as: ports.hasher.returnCode(of: id))
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let challenge = try work.challenges.find(id), challenge.question.client == caller.client.id else {
                return .notFound
            }
            if let status = try work.endedStatus(of: challenge) { return .alreadyEnded(status) }
            // Before the approval nobody can know the code, so that any code is wrong.
            guard case .returning(let method, let enrollment) = challenge.state, isRight else {
                let wrong = try work.count(.wrongReturnCodes(id))
                return wrong.isExceeded ? .rateLimited(retryAfter: wrong.retryAfter(at: now)) : .codeInvalid
            }
            // Reading the state here keeps it from changing until this commits: the approval of a removed or
            // suspended device does not count.
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
    /// - Returns: false when something else ended or held the challenge before.
    func holdForReturn(
        _ challenge: Challenge, approvedBy method: AnswerMethod, on enrollment: Enrollment
    ) throws -> Bool {
        let until = max(challenge.expiresAt, now.adding(ReturnChallenge.window))
        guard try challenges.holdForReturn(challenge.id, approvedBy: method, on: enrollment.id, until: until, at: now)
        else { return false }
        try raise(.challengeHeld(challenge, method, by: enrollment))
        return true
    }
}
