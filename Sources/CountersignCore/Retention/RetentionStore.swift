public import CountersignWire

/// Deletes what is kept no longer.
///
/// All throw ``StoreError``.
public protocol RetentionStore {
    /// Deletes the oldest that have ended, with whom they were put to, and without their receipts; tells how many.
    func deleteChallenges(endedBefore: Timestamp, limit: Int) throws -> Int
    /// Deletes the oldest, and tells how many.
    func deleteReceipts(acceptedBefore: Timestamp, limit: Int) throws -> Int
    /// Deletes the oldest events, and tells how many.
    func deleteEvents(before: Timestamp, limit: Int) throws -> Int
    /// Deletes a batch of what is no longer needed, and tells how many rows there were.
    func sweep(now: Timestamp, limit: Int) throws -> Int
}
