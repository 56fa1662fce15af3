package import CountersignWire

/// The receipts.
///
/// All throw ``StoreError``.
package protocol ReceiptStore {
    func find(of challenge: ChallengeID) throws -> StoredReceipt?
    /// In the order of their challenges.
    func list(
        by enrollment: EnrollmentID, in scope: ListScope, after id: ChallengeID?, limit: Int
    ) throws -> [StoredReceipt]
    func insert(_ receipt: StoredReceipt) throws
    func delete(of challenge: ChallengeID) throws
}
