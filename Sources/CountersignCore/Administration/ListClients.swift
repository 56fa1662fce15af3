package import CountersignWire

/// Lists the clients.
///
/// This operation is for operators.
package enum ListClients {
    /// A client, and which of its receivers are gone.
    package struct Listed: Equatable, Sendable {
        /// The client.
        package let client: Client
        /// The callback URIs that get no more callbacks, because their receiver said that it is gone.
        package let gone: [CallbackURI]
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// All clients.
        case clients([Listed])
    }

    /// Lists the clients.
    package static func list(ports: Ports) async throws -> Outcome {
        try await ports.store.read { stores in
            let gone = try stores.receivers.gone()
            return .clients(try stores.clients.all().map { Listed(client: $0, gone: gone[$0.id] ?? []) })
        }
    }
}
