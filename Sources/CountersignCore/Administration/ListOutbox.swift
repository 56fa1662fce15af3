package import CountersignWire

/// Lists the messages that have not arrived, oldest first.
///
/// For operators.
package enum ListOutbox {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// A page of them.
        case entries([OutboxEntry])
    }

    /// A page of messages in a state, behind one of them.
    package static func list(
        _ state: OutboxEntry.State, after id: EventID?, limit: Int, ports: Ports
    ) async throws -> Outcome {
        .entries(try await ports.store.read { try $0.outbox.list(state, after: id, limit: limit) })
    }
}
