package import CountersignWire

/// Shows a client the receipt of its challenge, which may be kept longer than the challenge itself.
package enum ShowReceipt {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The receipt of the answer that decided the challenge.
        case receipt(StoredReceipt)
        /// The challenge has no receipt, or has not ended.
        case none
        /// The client has no such challenge.
        case challengeNotFound
    }

    /// Reads the receipt of a client's challenge.
    ///
    /// - Parameters:
    ///   - id: the challenge.
    ///   - client: the client, which must be the client of the challenge.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func receipt(of id: ChallengeID, to client: ClientID, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            let challenge = try reader.challenges.find(id)
            guard challenge == nil || challenge?.question.client == client else { return .challengeNotFound }
            // While an approval waits for its return code, its client may not see what the device approved.
            guard challenge?.state.isEnded ?? true else { return .none }
            guard let receipt = try reader.receipts.find(of: id), receipt.client == client else {
                return challenge == nil ? .challengeNotFound : .none
            }
            return .receipt(receipt)
        }
    }
}
