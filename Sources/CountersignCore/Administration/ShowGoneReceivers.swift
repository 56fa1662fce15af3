package import CountersignWire

/// Shows which receivers of a client's callbacks said that they are gone.
///
/// This operation is for operators.
package enum ShowGoneReceivers {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The callback URIs that get no more callbacks.
        case gone([CallbackURI])
    }

    /// Shows the receivers.
    package static func show(of client: ClientID, ports: Ports) async throws -> Outcome {
        .gone(try await ports.store.read { try $0.receivers.gone(of: client) })
    }
}
