import CountersignWire

/// Cancels what people's devices are asked about sign-ins that give their client nothing any more.
enum CancelVainQuestions {
    /// How many questions are looked at in one transaction.
    private static let batch = 200

    /// Cancels them, by how the client uses the provider now.
    ///
    /// Their sign-ins stay open until they are over, as those that ask nobody: a refusal would tell them apart.
    static func cancel(at client: ClientID, by actor: Actor, ports: Ports) async throws {
        let open = try await ports.store.read { try $0.challenges.open(of: client, limit: .max) }
        for start in stride(from: 0, to: open.count, by: batch) {
            let looked = Array(open[start..<min(start + batch, open.count)])
            try await ports.commit(at: ports.time.now, as: actor) { work in
                // Somebody may have set other settings since.
                let party = try work.relyingParties.lock(client)
                try work.cancel(try looked.filter { try work.isVain($0, at: party) })
            }
        }
    }
}

extension UnitOfWork {
    /// Whether a challenge asks about a sign-in that gives its client nothing.
    fileprivate func isVain(_ id: ChallengeID, at party: RelyingParty?) throws -> Bool {
        guard let signIn = try challenges.find(id)?.purpose.authorization, let found = try authorizations.find(signIn)
        else { return false }
        return party.map { !found.wanted.isServed(by: $0) } ?? true
    }
}
