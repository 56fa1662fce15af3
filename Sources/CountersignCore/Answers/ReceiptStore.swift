package import CountersignWire

/// The receipts.
///
/// All methods throw ``StoreError``.
package protocol ReceiptStore {
    func find(of challenge: ChallengeID) throws -> StoredReceipt?
    /// Receipts of an enrollment's answers, in the order of their challenges' ids.
    func list(
        by enrollment: EnrollmentID, in scope: ListScope, after id: ChallengeID?, limit: Int
    ) throws -> [StoredReceipt]
    func insert(_ receipt: StoredReceipt) throws
    func delete(of challenge: ChallengeID) throws
}
