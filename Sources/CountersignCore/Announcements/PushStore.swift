package import CountersignWire

/// The push registrations of devices, and the delivery states of pushes.
///
/// All methods throw ``StoreError``.
package protocol PushStore {
    func find(of enrollment: EnrollmentID) throws -> RegisteredPush?
    /// The data for pushes, one element for each subject, in their order.
    ///
    /// An element is nil if the challenge does not exist or the device has no push registration. The badge counts no
    /// more challenges than the limit.
    func announcementFacts(
        of subjects: [AnnounceChallenge.Subject], now: Timestamp, limit: Int
    ) throws -> [AnnounceChallenge.Facts?]
    /// Registers where a device is reached by push from now on.
    func put(_ push: PushRegistration, of enrollment: EnrollmentID, at: Timestamp) throws
    func delete(of enrollment: EnrollmentID) throws
    /// Removes this registration of a device, but not a later one.
    func delete(_ push: PushTarget, of enrollment: EnrollmentID) throws
    /// Records the delivery state of the push that announces a challenge to a device.
    func record(_ delivery: PushDelivery, of challenge: ChallengeID, to enrollment: EnrollmentID, at: Timestamp) throws
}
