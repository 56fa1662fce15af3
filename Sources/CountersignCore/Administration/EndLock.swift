package import CountersignWire

/// Ends the lock of a reported question, so that its client may ask its user again.
///
/// For operators.
package enum EndLock {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The lock is gone.
        case ended
        /// There is none.
        case notFound
    }

    /// Ends the lock.
    package static func end(_ challenge: ChallengeID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let lock = try work.askingLocks.end(of: challenge) else { return .notFound }
            try work.raise(.askingUnlocked(lock))
            return .ended
        }
    }
}
