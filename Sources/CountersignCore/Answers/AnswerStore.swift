package import CountersignWire

/// A challenge with what a device that answers it needs.
package struct AnsweringFacts: Sendable {
    /// The challenge.
    package let challenge: Challenge
    /// Whether it was put to the device.
    package let isTarget: Bool
    /// What came of the same answer before; nil if it is new.
    package let recorded: RecordedAnswer?

    /// Facts of these parts.
    package init(challenge: Challenge, isTarget: Bool, recorded: RecordedAnswer?) {
        self.challenge = challenge
        self.isTarget = isTarget
        self.recorded = recorded
    }
}

/// The recorded answers, by which an answer that is sent again gets the same reply.
///
/// All methods throw ``StoreError``.
package protocol AnswerStore {
    /// A challenge with what a device that answers it needs; nil if there is no such challenge.
    func answering(
        _ id: ChallengeID, by enrollment: EnrollmentID, digest: MessageDigest
    ) throws -> AnsweringFacts?
    /// The same, with the device and its certificate; nil if there is no such device.
    func answeringDevice(
        _ id: ChallengeID, by enrollment: EnrollmentID, digest: MessageDigest
    ) throws -> (enrollment: Enrollment, certificate: [UInt8], answering: AnsweringFacts?)?
    func find(by enrollment: EnrollmentID, digest: MessageDigest) throws -> RecordedAnswer?
    func deleteAll(by enrollment: EnrollmentID) throws
    func insert(_ answer: RecordedAnswer, by enrollment: EnrollmentID, digest: MessageDigest, at: Timestamp) throws
}
