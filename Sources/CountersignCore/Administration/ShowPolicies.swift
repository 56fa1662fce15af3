package import CountersignWire

/// Shows a client's policies for the devices of its users.
package enum ShowPolicies {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The policies of the client, or the standard ones for a client that was deleted.
        case policies(EnrollmentPolicies)
    }

    /// Shows the policies.
    package static func show(of id: ClientID, ports: Ports) async throws -> Outcome {
        let client = try await ports.store.read { try $0.clients.find(id) }
        return .policies(
            EnrollmentPolicies(
                pin: client?.pinPolicy ?? .standard,
                devices: client?.deviceLimit,
                authenticators: client?.authenticators.map(\.name) ?? []))
    }
}
