package import CountersignWire

/// Has a message sent now: one that was given up, or one that waits for its next time.
///
/// For operators. Spec: design 7.
package enum RetryMessage {
    /// What came of it.
    package enum Outcome: Hashable, Sendable {
        /// It is sent now.
        case queued
        /// There is no message of this id that has not arrived.
        case notFound
        /// Its time is over: its content is gone.
        case over
    }

    /// Sends a message again.
    package static func retry(_ id: EventID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let entry = try work.outbox.find(id) else { return .notFound }
            guard now < entry.expiresAt, let message = try work.outbox.requeue(id, at: now) else { return .over }
            if case .push(let challenge, let enrollment, _) = message.content {
                try work.pushes.record(.queued(lastFailure: entry.lastError), of: challenge, to: enrollment, at: now)
            }
            try work.raise(.messageRetried(id))
            return .queued
        }
    }
}
