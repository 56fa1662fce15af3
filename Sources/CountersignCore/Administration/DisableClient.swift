package import CountersignWire
import Encodings

/// Lets a client in nowhere until it is enabled again, as when its secret or its server is in wrong hands.
///
/// For operators.
package enum DisableClient {
    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The client as it is now.
        case disabled(Client)
        /// There is none of this id that can be disabled.
        case notFound
    }

    /// How many challenges are cancelled in one transaction.
    private static let batch = 200

    /// Disables a client.
    ///
    /// It is refused everywhere; who waits for it waits no longer; its open challenges are cancelled, so that nobody
    /// approves what it asked; it is told nothing, its tickets enroll nobody, its hooks judge nothing. Whether a new
    /// device is let in, which its user decides, stays open. Done again, it goes on where it was cut off.
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

    /// Cancels what a client has asked and nobody answered.
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
    /// Disables a client, or enables it again where the time is nil, and shows it as it is then.
    func setDisabled(_ time: Timestamp?, of id: ClientID, raising event: DomainEvent) throws -> Client {
        try clients.disable(id, at: time)
        try raise(event)
        guard let client = try clients.find(id) else { throw StoreError.corruptRow("client") }
        return client
    }
}
