package import CountersignWire
import Encodings

/// Disables a client until it is enabled again, for example because its secret or its server is in wrong hands.
///
/// This operation is for operators.
package enum DisableClient {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client is disabled, now or by an earlier call; its current settings.
        case disabled(Client)
        /// There is no client with this id, or it is the operator's built-in client.
        case notFound
    }

    /// How many challenges are cancelled in one transaction.
    private static let batch = 200

    /// Disables a client.
    ///
    /// A disabled client is refused everywhere, and its waiting calls end. Its open challenges are cancelled, so that
    /// nobody approves what it asked. It gets no callbacks and notices, its tickets enroll no devices, and its hooks
    /// are not asked. Challenges about new devices stay open, because the user decides them. A repeated call
    /// continues where an earlier one was cut off.
    package static func disable(_ id: ClientID, by actor: Actor, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let outcome: Outcome = try await ports.commit(at: now, as: actor) { work in
            guard let client = try work.clients.find(id), !client.isOperator else { return .notFound }
            guard client.disabledAt == nil else { return .disabled(client) }
            return .disabled(try work.setDisabled(now, of: id, raising: .clientDisabled(id)))
        }
        if case .disabled = outcome { try await cancelOpen(of: id, as: actor, ports: ports) }
        return outcome
    }

    /// Cancels the open challenges of a client, except those about new devices.
    static func cancelOpen(of id: ClientID, as actor: Actor, ports: Ports) async throws {
        while true {
            let now = ports.time.now
            let open = try await ports.commit(at: now, as: actor) { work in
                let open = try work.challenges.open(of: id, limit: batch)
                try work.cancel(open)
                return open
            }
            guard open.count == batch else { return }
        }
    }
}

extension UnitOfWork {
    /// Disables a client at a time, or enables it if the time is nil, and returns its new state.
    func setDisabled(_ time: Timestamp?, of id: ClientID, raising event: DomainEvent) throws -> Client {
        try clients.disable(id, at: time)
        try raise(event)
        guard let client = try clients.find(id) else { throw StoreError.corruptRow("client") }
        return client
    }
}
