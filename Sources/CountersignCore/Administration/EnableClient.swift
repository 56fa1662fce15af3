package import CountersignWire

/// Enables a client that was disabled.
///
/// This operation is for operators.
package enum EnableClient {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client is enabled, now or by an earlier call; its current settings.
        case enabled(Client)
        /// There is no client with this id, or it is the operator's built-in client.
        case notFound
    }

    /// Enables a client.
    ///
    /// The tickets that it had asked for are over: that may have been somebody who had its secret, also at the moment at
    /// which it was disabled.
    package static func enable(_ id: ClientID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: actor) { work in
            guard let client = try work.clients.find(id), !client.isOperator else { return .notFound }
            guard client.disabledAt != nil else { return .enabled(client) }
            try work.tickets.deleteTickets(of: id)
            return .enabled(try work.setDisabled(nil, of: id, raising: .clientEnabled(id)))
        }
    }
}
