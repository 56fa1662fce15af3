package import CountersignWire

/// The answers that were taken, for the same answer sent again.
///
/// All throw ``StoreError``.
package protocol AnswerStore {
    func find(by enrollment: EnrollmentID, digest: MessageDigest) throws -> RecordedAnswer?
    func deleteAll(by enrollment: EnrollmentID) throws
    func insert(_ answer: RecordedAnswer, by enrollment: EnrollmentID, digest: MessageDigest, at: Timestamp) throws
}
