import CountersignWire

/// Ends challenges that nobody answered in time.
package enum ExpireChallenges {
    /// How many are ended in one transaction.
    private static let batch = 200

    /// Ends all that are over.
    ///
    /// - Returns: how many there were.
    @discardableResult
    package static func sweep(ports: Ports) async throws -> Int {
        try await untilNothing {
            let now = ports.time.now
            let overdue = try await ports.store.read { try $0.challenges.overdue(now: now, limit: batch) }
            if !overdue.isEmpty { try await expire(overdue, ports: ports) }
            return overdue.count
        }
    }

    /// Ends those of some challenges that are pending and over.
    static func expire(_ ids: [ChallengeID], ports: Ports) async throws {
        let now = ports.time.now
        try await ports.commit(at: now, as: .system) { work in
            for id in ids {
                guard let challenge = try work.challenges.find(id) else { continue }
                try work.endChallenge(challenge, as: .expired)
            }
        }
    }
}
