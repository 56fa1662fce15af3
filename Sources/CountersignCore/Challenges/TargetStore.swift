package import CountersignWire

/// Which challenge is put to which device.
///
/// All throw ``StoreError``.
package protocol TargetStore {
    func find(of challenge: ChallengeID, enrollment: EnrollmentID) throws -> ChallengeTarget?
    func all(of challenge: ChallengeID) throws -> [EnrollmentID]
    func deliveries(of challenge: ChallengeID) throws -> [Delivery]
    /// An enrollment and the challenges that wait for its answer, newest first; nil if there is no such enrollment.
    func pending(
        of enrollment: EnrollmentID, user: UserID, now: Timestamp, limit: Int
    ) throws -> (enrollment: Enrollment, challenges: [Challenge])?
    /// Records when a device first had the challenge.
    ///
    /// - Returns: false if that was recorded before.
    func recordFetch(of challenge: ChallengeID, by enrollment: EnrollmentID, at: Timestamp) throws -> Bool
}
