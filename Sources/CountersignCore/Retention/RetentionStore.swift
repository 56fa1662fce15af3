package import CountersignWire

/// Deletes expired data.
///
/// All methods throw ``StoreError``.
package protocol RetentionStore {
    /// Deletes the oldest ended challenges with their targets but without their receipts, and returns how many it
    /// deleted.
    func deleteChallenges(endedBefore: Timestamp, limit: Int) throws -> Int
    /// Deletes the oldest receipts, and returns how many it deleted.
    func deleteReceipts(acceptedBefore: Timestamp, limit: Int) throws -> Int
    /// Deletes the oldest events, and returns how many it deleted.
    func deleteEvents(before: Timestamp, limit: Int) throws -> Int
    /// Deletes a batch of rows that are no longer needed, and returns how many it deleted.
    func sweep(now: Timestamp, limit: Int) throws -> Int
}
