package import CountersignWire

/// Cancels a challenge.
package enum CancelChallenge {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is cancelled.
        case cancelled(Challenge)
        /// It had ended before.
        case alreadyEnded(ChallengeStatus)
        /// The client has no such challenge.
        case notFound
    }

    /// Cancels a client's challenge.
    package static func cancel(_ id: ChallengeID, by caller: ClientCaller, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let challenge = try work.challenges.find(id), challenge.isShown(to: caller.client.id) else {
                return .notFound
            }
            if challenge.purpose.changesDevices, let user = challenge.user { try work.users.lock(user) }
            switch try work.endChallenge(challenge, as: .cancelled) {
            case .ended(let ended): return .cancelled(ended)
            case .alreadyEnded(let status): return .alreadyEnded(status)
            }
        }
    }
}

extension UnitOfWork {
    /// Ends open challenges as cancelled, or expired where they are over.
    func cancel(_ challenges: [ChallengeID]) throws {
        for id in challenges {
            guard let challenge = try self.challenges.find(id) else { continue }
            try endChallenge(challenge, as: .cancelled)
        }
    }
}
