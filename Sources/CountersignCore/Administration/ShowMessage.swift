package import CountersignWire

/// Shows a message of the outbox to operators.
package enum ShowMessage {
    /// The message, or nil.
    package static func show(_ id: EventID, ports: Ports) async throws -> OutboxEntry? {
        try await ports.store.read { try $0.outbox.find(id) }
    }
}
