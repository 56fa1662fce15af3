public import CountersignWire
import Encodings

/// Lets a client in nowhere until it is enabled again, as when its secret or its server is in wrong hands.
///
/// For operators.
public enum DisableClient {
    /// How many challenges are cancelled in one transaction.
    private static let batch = 200

    /// Disables a client.
    ///
    /// It is refused everywhere; who waits for it waits no longer; its open challenges are cancelled, so that nobody
    /// approves what it asked; it is told nothing, its tickets enroll nobody, its hooks judge nothing. Whether a new
    /// device is let in, which its user decides, stays open. Done again, it goes on where it was cut off.
    ///
    /// - Returns: the client as it is now; nil when there is none of this id that can be disabled.
    public static func disable(_ id: ClientID, by caller: Client, ports: Ports) async throws -> Client? {
        guard let client = try await set(ports.time.now, of: id, by: caller, ports: ports) else { return nil }
        try await cancelOpen(of: id, ports: ports)
        return client
    }

    /// Enables a client again.
    ///
    /// - Returns: the client as it is now; nil when there is none of this id that can be enabled.
    public static func enable(_ id: ClientID, by caller: Client, ports: Ports) async throws -> Client? {
        try await set(nil, of: id, by: caller, ports: ports)
    }

    private static func set(
        _ disabledAt: Timestamp?, of id: ClientID, by caller: Client, ports: Ports
    ) async throws -> Client? {
        let now = ports.time.now
        return try await ports.commit(at: now) { work in
            guard let client = try work.clients.find(id), !client.isOperator else { return nil }
            guard (client.disabledAt == nil) != (disabledAt == nil) else { return client }
            try work.clients.disable(id, at: disabledAt)
            try work.raise(
                disabledAt == nil ? .clientEnabled(id, by: caller.id) : .clientDisabled(id, by: caller.id))
            return try work.clients.find(id)
        }
    }

    /// Cancels what a client has asked and nobody answered.
    static func cancelOpen(of id: ClientID, ports: Ports) async throws {
        while true {
            let now = ports.time.now
            let open = try await ports.commit(at: now) { work in
                let open = try work.challenges.open(of: id, limit: batch)
                try work.cancel(open)
                return open
            }
            guard open.count == batch else { return }
        }
    }
}

extension UnitOfWork {
    /// Ends open challenges as cancelled, or expired where they are over.
    func cancel(_ challenges: [ChallengeID]) throws {
        for id in challenges {
            guard let challenge = try self.challenges.find(id) else { continue }
            try endChallenge(challenge, as: .cancelled)
        }
    }
}
