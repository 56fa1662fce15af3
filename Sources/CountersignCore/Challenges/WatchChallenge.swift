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
    /// One that is over and was not yet swept is ended first, so that nobody is shown an open challenge that no answer
    /// can reach.
    public static func challenge(_ id: ChallengeID, of client: ClientID, ports: Ports) async throws -> Shown? {
        let shown = try await read(id, of: client, ports: ports)
        guard let shown, !shown.challenge.state.isEnded, shown.challenge.expiresAt <= ports.time.now else {
            return shown
        }
        try await ExpireChallenges.expire([id], ports: ports)
        return try await read(id, of: client, ports: ports)
    }

    /// A client's challenge, or nil, as soon as it has ended or was claimed.
    ///
    /// - Parameters:
    ///   - id: the challenge.
    ///   - client: who asks.
    ///   - deadline: until when to wait for that.
    ///   - wakes: who tells of it.
    ///   - ports: the world.
    public static func challenge(
        _ id: ChallengeID, of client: ClientID, waitingUntil deadline: Timestamp, wakes: any Wakes, ports: Ports
    ) async throws -> Beginning {
        // Subscribed before the first look: an end in between is not missed.
        let subscription = wakes.subscribe(to: .challenge(id))
        let shown = try await challenge(id, of: client, ports: ports)
        guard let shown, !shown.challenge.state.isEnded, ports.time.now < deadline else { return .ended(shown) }
        return .waiting(
            Wait(
                challenge: id, client: client, claim: shown.challenge.claim, expiresAt: shown.challenge.expiresAt,
                deadline: deadline,
                subscription: subscription))
    }

    /// How a look begins that may have to be waited for.
    public enum Beginning: Sendable {
        /// It is known at once.
        case ended(Shown?)
        /// The challenge is open: what comes of it must be waited for.
        case waiting(Wait)
    }

    /// What is kept of a client's call while it waits, and nothing more: thousands do.
    public struct Wait: Sendable {
        /// The challenge.
        public let challenge: ChallengeID
        /// Who waits.
        public let client: ClientID
        fileprivate let claim: Claim?
        fileprivate let expiresAt: Timestamp
        fileprivate let deadline: Timestamp
        fileprivate let subscription: any WakeSubscription

        /// Waits for the end of the challenge, or its being claimed, or the deadline.
        ///
        /// - Throws: `CancellationError` when the wait is interrupted; ``StoreError``.
        public func outcome(ports: Ports) async throws -> Shown? {
            var expiresAt = expiresAt
            while true {
                try await subscription.wait(until: min(deadline, expiresAt))
                let shown = try await WatchChallenge.challenge(challenge, of: client, ports: ports)
                guard let challenge = shown?.challenge, !challenge.state.isEnded, challenge.claim == claim,
                    ports.time.now < deadline
                else { return shown }
                // It is later where a device has approved and its code has yet to come back.
                expiresAt = challenge.expiresAt
            }
        }
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
            guard challenge.state.isEnded else { return .none }
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
