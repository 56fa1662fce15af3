package import CountersignWire

/// Shows a client its challenge, now or when it ends.
package enum WatchChallenge {
    /// A challenge, and how the devices heard of it.
    package struct Shown: Equatable, Sendable {
        /// The challenge.
        package let challenge: Challenge
        /// How each device heard of it.
        package let deliveries: [Delivery]
        /// The receipt of the answer that ended it; nil while it is open, or if no device has ended it.
        package let receipt: Evidence?
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenge as it is now.
        case shown(Shown)
        /// The client has no such challenge: an unknown one and another client's are the same.
        case notFound
        /// The client was disabled, or lost its secret or right, while it waited.
        case refused(CallerRefusal)
    }

    /// A client's challenge.
    ///
    /// The caller's secret and its right are checked here. A challenge that is over and was not yet swept is ended first,
    /// so that nobody is shown an open challenge that no answer can reach.
    package static func challenge(
        _ id: ChallengeID, for caller: ClientCredential, ports: Ports
    ) async throws -> Outcome {
        let found = try await read(id, for: caller, ports: ports)
        if found == .refused(.unknown) { ports.forget(caller) }
        guard case .shown(let shown) = found, !shown.challenge.state.isEnded,
            shown.challenge.expiresAt <= ports.time.now
        else { return found }
        try await ExpireChallenges.expire([id], ports: ports)
        return try await read(id, for: caller, ports: ports)
    }

    /// A client's challenge, as soon as it has ended or was claimed.
    ///
    /// - Parameters:
    ///   - id: the challenge.
    ///   - caller: who asks.
    ///   - deadline: until when to wait for that.
    ///   - changes: notifies of changes.
    ///   - ports: the external dependencies.
    package static func challenge(
        _ id: ChallengeID, for caller: ClientCredential, waitingUntil deadline: Timestamp, changes: any ChangeNotifier,
        ports: Ports
    ) async throws -> Beginning {
        // Subscribed before the first look: an end in between is not missed.
        let subscription = changes.subscribe(to: .challenge(id))
        let found = try await challenge(id, for: caller, ports: ports)
        guard case .shown(let shown) = found, !shown.challenge.state.isEnded, ports.time.now < deadline else {
            return .ended(found)
        }
        return .waiting(
            Wait(
                challenge: id, caller: caller, channel: shown.challenge.channel, expiresAt: shown.challenge.expiresAt,
                deadline: deadline, subscription: subscription))
    }

    /// How a call for a challenge begins.
    package enum Beginning: Sendable {
        /// It is known at once.
        case ended(Outcome)
        /// The challenge is open, and the caller waits for a change.
        case waiting(Wait)
    }

    /// What is kept of a client's call while it waits; thousands wait at once.
    package struct Wait: Sendable {
        /// The challenge.
        package let challenge: ChallengeID
        /// Who waits.
        package let caller: ClientCredential
        fileprivate let channel: Channel
        fileprivate let expiresAt: Timestamp
        fileprivate let deadline: Timestamp
        fileprivate let subscription: any ChangeSubscription

        /// Waits until the challenge ends or is claimed, the caller is refused, or the deadline passes.
        ///
        /// - Throws: `CancellationError` when the wait is interrupted; ``StoreError``.
        package func outcome(ports: Ports) async throws -> Outcome {
            var expiresAt = expiresAt
            while true {
                try await subscription.wait(until: min(deadline, expiresAt))
                let found = try await WatchChallenge.challenge(challenge, for: caller, ports: ports)
                guard case .shown(let shown) = found, !shown.challenge.state.isEnded,
                    shown.challenge.channel == channel, ports.time.now < deadline
                else { return found }
                // It is later where a device has approved and its code has yet to come back.
                expiresAt = shown.challenge.expiresAt
            }
        }
    }

    private static func read(
        _ id: ChallengeID, for caller: ClientCredential, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.store.read { reader in
            // Client, secret or right may have been taken away while it waited.
            if let refusal = try reader.refusal(of: caller, needing: .challenges, at: now) {
                return .refused(refusal)
            }
            guard let (challenge, evidence) = try reader.challenges.findWithReceipt(id),
                challenge.isShown(to: caller.client)
            else { return .notFound }
            // While an approval waits for its return code, its client may not see what the device approved.
            var receipt: Evidence?
            if case .ended(let outcome, _) = challenge.state, outcome.decidedBy != nil { receipt = evidence }
            return .shown(
                Shown(challenge: challenge, deliveries: try reader.targets.deliveries(of: id), receipt: receipt))
        }
    }
}
