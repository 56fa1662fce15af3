package import CountersignWire

/// Where devices are reached by push, and how far pushes have come.
///
/// All throw ``StoreError``.
package protocol PushStore {
    func find(of enrollment: EnrollmentID) throws -> RegisteredPush?
    /// In their order; nil for a challenge that is not there and a device that has no push registration. As many
    /// challenges as the limit are counted at most.
    func announcementFacts(
        of subjects: [AnnounceChallenge.Subject], now: Timestamp, limit: Int
    ) throws -> [AnnounceChallenge.Facts?]
    /// Registers where a device is reached by push notifications from now on.
    func put(_ push: PushRegistration, of enrollment: EnrollmentID, at: Timestamp) throws
    func delete(of enrollment: EnrollmentID) throws
    /// Removes this registration, and no other that came since.
    func delete(_ push: PushTarget, of enrollment: EnrollmentID) throws
    /// Notes how far the push that announces a challenge to a device has come.
    func record(_ delivery: PushDelivery, of challenge: ChallengeID, to enrollment: EnrollmentID, at: Timestamp) throws
}
