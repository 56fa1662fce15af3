package import CountersignWire

/// Lists the messages that were not delivered, oldest first.
///
/// This operation is for operators.
package enum ListOutbox {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// A page of messages.
        case entries([OutboxEntry])
    }

    /// Lists a page of the messages in a state.
    ///
    /// - Parameters:
    ///   - state: the state of the messages to list.
    ///   - id: the last message on the previous page; nil for the first page.
    ///   - limit: the maximum number of messages.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(
        _ state: OutboxEntry.State, after id: EventID?, limit: Int, ports: Ports
    ) async throws -> Outcome {
        .entries(try await ports.store.read { try $0.outbox.list(state, after: id, limit: limit) })
    }
}
