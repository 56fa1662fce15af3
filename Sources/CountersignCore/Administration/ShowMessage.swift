package import CountersignWire

/// Shows a message of the outbox.
///
/// This operation is for operators.
package enum ShowMessage {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The message.
        case message(OutboxEntry)
        /// There is no undelivered message with this id.
        case notFound
    }

    /// Shows a message.
    package static func show(_ id: EventID, ports: Ports) async throws -> Outcome {
        try await ports.store.read { try $0.outbox.find(id) }.map(Outcome.message) ?? .notFound
    }
}
