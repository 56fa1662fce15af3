public import CountersignWire

/// Takes a challenge back.
public enum CancelChallenge {
    /// What came of it.
    public enum Outcome: Sendable {
        /// It is cancelled.
        case cancelled(Challenge)
        /// It had ended before.
        case alreadyEnded(ChallengeStatus)
        /// The client has no such challenge.
        case notFound
    }

    /// Cancels a client's challenge.
    public static func cancel(_ id: ChallengeID, by client: ClientID, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now) { work in
            guard let challenge = try work.challenges.find(id), challenge.question.client == client else {
                return .notFound
            }
            // It is about a device, which will be removed.
            if challenge.newDevice != nil, let user = challenge.user { try work.users.lock(user) }
            if let earlier = try work.endChallenge(challenge, as: .cancelled) { return .alreadyEnded(earlier) }
            return try work.challenges.find(id).map(Outcome.cancelled) ?? .notFound
        }
    }
}
