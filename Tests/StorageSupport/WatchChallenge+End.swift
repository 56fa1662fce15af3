package import CountersignCore
package import CountersignWire

extension WatchChallenge {
    /// A client's challenge when it has ended or at the deadline; nil if the client has no such challenge.
    package static func end(
        of id: ChallengeID, for client: Client, by deadline: Timestamp, ports: Ports
    ) async throws -> Shown? {
        switch try await challenge(
            id, for: client.credential, waitingUntil: deadline, changes: ports.changes, ports: ports)
        {
        case .ended(let found): return found.shown
        case .waiting(let wait): return try await wait.outcome(ports: ports).shown
        }
    }

    /// A client's challenge; nil if the client has no such challenge.
    package static func shown(_ id: ChallengeID, to client: Client, ports: Ports) async throws -> Shown? {
        try await challenge(id, for: client.credential, ports: ports).shown
    }
}

extension WatchChallenge.Outcome {
    package var shown: WatchChallenge.Shown? {
        if case .shown(let shown) = self { shown } else { nil }
    }
}

extension AskChallenge.Outcome {
    /// The challenge.
    ///
    /// - Throws: the reason for a refusal.
    package func get() throws(AskChallenge.Refusal) -> AskedChallenge {
        switch self {
        case .asked(let asked): asked
        case .refused(let refusal): throw refusal
        }
    }
}

extension AvailableMethods.Outcome {
    package var types: [AvailableMethods.Available] {
        switch self {
        case .types(let types): types
        }
    }
}

extension Client {
    /// The client as a caller with its secret.
    package var caller: ClientCaller { ClientCaller(client: self, secret: secretHash) }
    /// The credential of a client with this secret.
    package var credential: ClientCredential { caller.credential }
    /// The client as it acts with this secret.
    package var actor: Actor { caller.actor }
}
