public import CountersignWire

/// Takes a challenge back.
public enum CancelChallenge {
    /// What came of it.
    public enum Outcome: Sendable {
        /// It is cancelled.
        case cancelled(Challenge)
        /// It had ended before.
        case alreadyEnded(ChallengeStanding)
        /// The client has no such challenge.
        case notFound
    }

    /// Cancels a client's challenge.
    public static func cancel(_ id: ChallengeID, by client: ClientID, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let events = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            guard let challenge = try writer.challenge(id), challenge.question.client == client else {
                return .notFound
            }
            guard now < challenge.expiresAt || challenge.state != .pending else {
                // Over, and not swept yet: it ends as what it is.
                _ = try writer.finish(challenge, as: .expired, at: now, events)
                return .alreadyEnded(ChallengeState.ended(.expired, at: now).standing)
            }
            guard try writer.finish(challenge, as: .cancelled, at: now, events) else {
                return .alreadyEnded(challenge.state.standing)
            }
            return try writer.challenge(id).map(Outcome.cancelled) ?? .notFound
        }
    }
}
