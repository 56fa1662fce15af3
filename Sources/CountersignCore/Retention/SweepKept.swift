import CountersignWire

/// Deletes expired data in batches: each transaction is short, and after a crash the next run continues.
package enum SweepKept {
    /// How many rows one transaction deletes or erases.
    static let batch = 500

    /// Deletes data that are older than the deployment keeps them.
    ///
    /// - Parameters:
    ///   - retention: how long each kind of data is kept.
    ///   - ports: the external dependencies.
    /// - Returns: the number of deleted challenges, receipts and events together.
    @discardableResult
    package static func sweep(_ retention: Retention, ports: Ports) async throws -> Int {
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

/// Runs one batch after another until one finds nothing to do.
///
/// - Parameter batch: does a part of the work, and returns how much it did.
/// - Returns: how much was done in all.
func untilNothing(_ batch: () async throws -> Int) async throws -> Int {
    var total = 0
    while true {
        let count = try await batch()
        guard count > 0 else { return total }
        total += count
    }
}
