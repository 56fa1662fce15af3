package import CountersignWire

/// Shows a client the receipt of its challenge, which may be kept longer than the challenge itself.
package enum ShowReceipt {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The receipt.
        case receipt(StoredReceipt)
        /// The challenge has none.
        case none
        /// The client has no such challenge.
        case challengeNotFound
    }

    /// The receipt of a client's challenge.
    package static func receipt(of id: ChallengeID, to client: ClientID, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            let challenge = try reader.challenges.find(id)
            guard challenge == nil || challenge?.question.client == client else { return .challengeNotFound }
            // While a challenge waits for its code, nobody may see what its device approved.
            guard challenge?.state.isEnded ?? true else { return .none }
            guard let receipt = try reader.receipts.find(of: id), receipt.client == client else {
                return challenge == nil ? .challengeNotFound : .none
            }
            return .receipt(receipt)
        }
    }
}
