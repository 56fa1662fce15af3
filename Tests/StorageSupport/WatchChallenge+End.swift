public import CountersignCore
public import CountersignWire

extension WatchChallenge {
    /// A client's challenge, or nil, when it has ended or at the deadline.
    public static func end(
        of id: ChallengeID, for client: Client, by deadline: Timestamp, ports: Ports
    ) async throws -> Shown? {
        switch try await challenge(
            id, for: client.credential, waitingUntil: deadline, changes: ports.changes, ports: ports)
        {
        case .ended(let found): return try? found.get()
        case .waiting(let wait):
            let found = try await wait.outcome(ports: ports)
            return try? found.get()
        }
    }

    /// A client's challenge, or nil.
    public static func shown(_ id: ChallengeID, to client: Client, ports: Ports) async throws -> Shown? {
        let found = try await challenge(id, for: client.credential, ports: ports)
        return try? found.get()
    }
}

extension Client {
    /// What a client of this secret is let in by.
    public var credential: ClientCredential { ClientCredential(client: id, secret: secretHash) }
}
