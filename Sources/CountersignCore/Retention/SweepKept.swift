import CountersignWire

/// Deletes what is kept no longer, in batches: no transaction is long, and whoever is killed in between goes on.
public enum SweepKept {
    /// How many rows one transaction deletes or erases.
    static let batch = 500

    /// Deletes what is older than a deployment keeps it.
    ///
    /// - Parameters:
    ///   - retention: for how long what is kept.
    ///   - ports: the world.
    /// - Returns: how many challenges, receipts and events there were together.
    @discardableResult
    public static func sweep(_ retention: Retention, ports: Ports) async throws -> Int {
        let now = ports.time.now
        var total = 0
        if let oldest = retention.challenges.oldest(at: now) {
            total += try await all(ports) { try $0.retention.deleteChallenges(endedBefore: oldest, limit: batch) }
        }
        if let oldest = retention.receipts.oldest(at: now) {
            total += try await all(ports) { try $0.retention.deleteReceipts(acceptedBefore: oldest, limit: batch) }
        }
        if let oldest = retention.audit.oldest(at: now) {
            total += try await all(ports) { try $0.retention.deleteEvents(before: oldest, limit: batch) }
        }
        return total
    }

    private static func all(
        _ ports: Ports, _ batch: @escaping @Sendable (any Stores) throws -> Int
    ) async throws -> Int {
        try await untilNothing { try await ports.store.commit { try batch($0) } }
    }
}

/// Runs a batch after another until one finds nothing.
///
/// - Parameter batch: does some of what there is to do, and says how much that was.
/// - Returns: how much there was.
func untilNothing(_ batch: () async throws -> Int) async throws -> Int {
    var total = 0
    while true {
        let count = try await batch()
        guard count > 0 else { return total }
        total += count
    }
}
