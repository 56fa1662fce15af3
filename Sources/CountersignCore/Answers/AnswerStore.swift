package import CountersignWire

/// The recorded answers, by which an answer that is sent again gets the same reply.
///
/// All methods throw ``StoreError``.
package protocol AnswerStore {
    func find(by enrollment: EnrollmentID, digest: MessageDigest) throws -> RecordedAnswer?
    func deleteAll(by enrollment: EnrollmentID) throws
    func insert(_ answer: RecordedAnswer, by enrollment: EnrollmentID, digest: MessageDigest, at: Timestamp) throws
}
