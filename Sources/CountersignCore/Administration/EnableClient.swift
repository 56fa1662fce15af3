package import CountersignWire

/// Enables a client that was disabled.
///
/// For operators.
package enum EnableClient {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The client as it is now.
        case enabled(Client)
        /// There is none of this id that can be enabled.
        case notFound
    }

    /// Enables a client.
    package static func enable(_ id: ClientID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let client = try work.clients.find(id), !client.isOperator else { return .notFound }
            guard client.disabledAt != nil else { return .enabled(client) }
            return .enabled(try work.setDisabled(nil, of: id, raising: .clientEnabled(id)))
        }
    }
}
