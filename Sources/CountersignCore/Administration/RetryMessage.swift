package import CountersignWire

/// Sends an undelivered message now, whether it was given up or waits for its next attempt.
///
/// This operation is for operators. Spec: docs/guides/delivery.md, *What did not arrive*.
package enum RetryMessage {
    /// The result of the operation.
    package enum Outcome: Hashable, Sendable {
        /// The message is due now.
        case queued
        /// There is no undelivered message with this id.
        case notFound
        /// The message has expired, and its content is erased.
        case over
    }

    /// Makes a message due now.
    package static func retry(_ id: EventID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let entry = try work.outbox.find(id) else { return .notFound }
            guard now < entry.expiresAt, let message = try work.outbox.requeue(id, at: now) else { return .over }
            if case .push(let challenge, let enrollment, _) = message.content {
                try work.pushes.record(.queued(lastFailure: entry.lastError), of: challenge, to: enrollment, at: now)
            }
            try work.raise(.messageRetried(message))
            return .queued
        }
    }
}
