package import CountersignWire

/// Ends the lock after a reported challenge, so that the client may ask the user again.
///
/// This operation is for operators.
package enum EndLock {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The lock is removed.
        case ended
        /// There is no such lock.
        case notFound
    }

    /// Ends the lock that the report of a challenge put.
    package static func end(_ challenge: ChallengeID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let lock = try work.askingLocks.end(of: challenge) else { return .notFound }
            try work.raise(.askingUnlocked(lock))
            return .ended
        }
    }
}
