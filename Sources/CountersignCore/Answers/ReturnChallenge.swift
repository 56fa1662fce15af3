package import CountersignWire
package import Encodings

/// Releases an approval that a user gave through a link, on the same device as the browser session that asked.
///
/// Somebody else may have sent the link to the user. Therefore the client does not see the approval until the browser
/// session presents the return code that the user's device brought back. Spec: docs/protocol/codes-and-links.md,
/// *Approval by a link*.
package enum ReturnChallenge {
    /// How long the device has at least, after the approval, to bring the return code back.
    static let window = Seconds.minutes(2)

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenge is approved.
        case released(Challenge)
        /// The code does not belong to this challenge, or no device has approved the challenge.
        case codeInvalid
        /// The challenge had ended before, or it fails now because the approving device was removed or suspended.
        case alreadyEnded(ChallengeStatus)
        /// The client has no such challenge.
        case notFound
        /// There were too many wrong codes.
        case rateLimited(retryAfter: Seconds)
    }

    /// Presents the return code that a device brought back.
    ///
    /// - Parameters:
    ///   - code: the return code.
    ///   - id: the challenge of the browser session that brings the code.
    ///   - caller: the client, which must be the client of the challenge.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func present(
        _ code: Secret<String>, for id: ChallengeID, by caller: ClientCaller, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let isRight = code.isSame(as: ports.hasher.returnCode(of: id))
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let challenge = try work.challenges.find(id), challenge.isShown(to: caller.client.id) else {
                return .notFound
            }
            if let status = try work.endedStatus(of: challenge) { return .alreadyEnded(status) }
            // Before the approval nobody can know the code, so every code counts as wrong.
            guard case .returning(let method, let enrollment) = challenge.state, isRight else {
                let wrong = try work.count(.wrongReturnCodes(id))
                return wrong.isExceeded ? .rateLimited(retryAfter: wrong.retryAfter(at: now)) : .codeInvalid
            }
            // Reading the state here locks it until this commits. An approval by a removed or suspended device does
            // not count.
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
    /// Holds an approval back until its return code is presented.
    ///
    /// - Returns: false if the challenge had already ended or another approval was held back.
    func holdForReturn(
        _ challenge: Challenge, approvedBy method: AnswerMethod, on enrollment: Enrollment
    ) throws -> Bool {
        let until = max(challenge.expiresAt, now.adding(ReturnChallenge.window))
        guard try challenges.holdForReturn(challenge.id, approvedBy: method, on: enrollment.id, until: until, at: now)
        else { return false }
        try recordFetch(of: challenge, by: enrollment)
        try raise(.challengeHeld(challenge, method, by: enrollment))
        return true
    }
}
