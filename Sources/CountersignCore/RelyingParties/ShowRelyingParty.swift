package import CountersignWire

/// Shows how a client uses the OpenID provider.
package enum ShowRelyingParty {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client uses the provider so.
        case shown(Client, RelyingParty)
        /// There is no such client, or it does not use the provider.
        case notFound
    }

    /// The settings of a client.
    package static func show(_ id: ClientID, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            guard let (client, settings) = try reader.clients.findWithParty(id), let party = settings else {
                return .notFound
            }
            return .shown(client, party)
        }
    }
}
