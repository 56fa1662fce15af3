public import CountersignWire

/// Shows a client how its challenge stands, now or when it ends.
public enum WatchChallenge {
    /// A challenge, and how the devices heard of it.
    public struct Shown: Sendable {
        /// The challenge.
        public let challenge: Challenge
        /// How each device heard of it.
        public let deliveries: [Delivery]
    }

    /// A client's challenge, or nil: an unknown one and another client's are the same.
    ///
    /// - Parameters:
    ///   - id: the challenge.
    ///   - client: who asks.
    ///   - deadline: until when to wait for its end; nil not to wait.
    ///   - ports: the world.
    public static func challenge(
        _ id: ChallengeID, of client: ClientID, waitingUntil deadline: Timestamp?, ports: Ports
    ) async throws -> Shown? {
        // Subscribed before the first look: an end in between is not missed.
        let subscription = deadline.map { _ in ports.wakes.subscribe(to: .challenge(id)) }
        while true {
            let shown = try await current(id, of: client, ports: ports)
            guard let shown, let deadline, let subscription, case .pending = shown.challenge.state,
                ports.time.now < deadline
            else { return shown }
            try await subscription.wait(until: min(deadline, shown.challenge.expiresAt))
        }
    }

    /// A client's challenge as it stands; one that is over and was not yet swept is ended first, so that nobody is
    /// shown an open challenge that no answer can reach.
    private static func current(_ id: ChallengeID, of client: ClientID, ports: Ports) async throws -> Shown? {
        let shown = try await read(id, of: client, ports: ports)
        guard let shown, case .pending = shown.challenge.state, shown.challenge.expiresAt <= ports.time.now else {
            return shown
        }
        try await ExpireChallenges.expire([id], ports: ports)
        return try await read(id, of: client, ports: ports)
    }

    private static func read(_ id: ChallengeID, of client: ClientID, ports: Ports) async throws -> Shown? {
        try await ports.store.read { reader in
            // The client may have been taken away while it waited.
            guard try reader.client(client) != nil, let challenge = try reader.challenge(id),
                challenge.question.client == client
            else { return nil }
            return Shown(challenge: challenge, deliveries: try reader.deliveries(of: id))
        }
    }

    /// The receipt of a client's challenge.
    public static func receipt(_ id: ChallengeID, of client: ClientID, ports: Ports) async throws -> Receipt {
        try await ports.store.read { reader in
            guard let challenge = try reader.challenge(id), challenge.question.client == client else {
                return .challengeNotFound
            }
            return try reader.receipt(of: id).map(Receipt.receipt) ?? .none
        }
    }

    /// What came of asking for a receipt.
    public enum Receipt: Sendable {
        /// The receipt.
        case receipt(StoredReceipt)
        /// The challenge has none.
        case none
        /// The client has no such challenge.
        case challengeNotFound
    }
}
