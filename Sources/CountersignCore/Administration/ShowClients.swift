package import CountersignWire

/// Shows clients to operators.
package enum ShowClients {
    /// A client, and what came of its callbacks.
    package struct Shown: Sendable {
        /// The client.
        package let client: Client
        /// Where it is not called back any more, because the receiver said that it is gone.
        package let gone: [CallbackURI]
    }

    /// All clients.
    package static func list(ports: Ports) async throws -> [Shown] {
        try await ports.store.read { stores in
            let gone = try stores.receivers.gone()
            return try stores.clients.all().map { Shown(client: $0, gone: gone[$0.id] ?? []) }
        }
    }

    /// A client that was just read, with what came of its callbacks.
    package static func show(_ client: Client, ports: Ports) async throws -> Shown {
        Shown(client: client, gone: try await ports.store.read { try $0.receivers.gone(of: client.id) })
    }

    /// What a client has set for the devices of its users.
    package static func policies(of id: ClientID, ports: Ports) async throws -> EnrollmentPolicies {
        let client = try await ports.store.read { try $0.clients.find(id) }
        return EnrollmentPolicies(
            pin: client?.pinPolicy ?? .standard,
            devices: client?.deviceLimit.map {
                EnrollmentPolicies.DeviceLimit(maximum: $0.maximum, replacesOldest: $0.replacesOldest)
            },
            authenticators: client?.authenticators.map(\.name) ?? [])
    }
}
