package import CountersignWire

/// What decides whether something new counts: cooling-offs, what removed enrollments left behind, and what waits.
///
/// Spec: design 13.
///
/// All throw ``StoreError``.
package protocol WaitStore {
    /// The longest cooling-off of the clients that know a user, or did within their own; nil where there is none.
    func longestCoolingOff(of user: UserID, at: Timestamp) throws -> Seconds?
    /// What was left behind under any of some names; nil for nothing that counts yet.
    func leftBehind(by subjects: [String], at: Timestamp) throws -> LeftBehind?
    /// What counts by now and was not told yet; `confirm` stands for the device itself.
    func due(now: Timestamp, limit: Int) throws -> [(enrollment: EnrollmentID, method: AnswerMethod)]
    /// Keeps what an enrollment leaves behind under a name; of two times for the same the later one.
    func keep(_ left: LeftBehind, of enrollment: Enrollment, by subject: String) throws
    /// What was left behind under some names is left behind under another, too.
    func copyLeftBehind(from subjects: [String], to subject: String, at: Timestamp) throws
    /// Keeps a client's cooling-off for a user who is unlinked now.
    func keepCoolingOff(of client: ClientID, for user: UserID, at: Timestamp) throws
    /// Remembers to tell when something counts; `confirm` stands for the device itself.
    func insert(_ method: AnswerMethod, of enrollment: EnrollmentID, until: Timestamp) throws
    /// False when there was nothing to tell any more.
    @discardableResult
    func delete(_ method: AnswerMethod, of enrollment: EnrollmentID) throws -> Bool
    func deleteAll(of enrollment: EnrollmentID) throws
}
