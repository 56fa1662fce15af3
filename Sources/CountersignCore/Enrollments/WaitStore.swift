package import CountersignWire

/// The data that decide when something new counts: cooling-offs, records of removed enrollments, and what waits.
///
/// Spec: docs/decisions/0046-approval-of-devices.md.
///
/// All functions throw ``StoreError``.
package protocol WaitStore {
    /// The longest cooling-off of the clients that are linked to a user; nil if there is none.
    ///
    /// A client that was unlinked is included for as long as its own cooling-off lasts.
    func longestCoolingOff(of user: UserID, at: Timestamp) throws -> Seconds?
    /// The records of removed enrollments under any of these names that were believed in a group, or in any if it is nil,
    /// taken together, besides that of one enrollment; nil if none still counts.
    func leftBehind(
        by subjects: [String], besides: EnrollmentID?, in group: TrustGroup?, at: Timestamp
    ) throws -> LeftBehind?
    /// The waits that are over and not yet announced, those that ended first before others.
    ///
    /// The method `confirm` stands for the device itself.
    func due(now: Timestamp, limit: Int) throws -> [(enrollment: EnrollmentID, method: AnswerMethod)]
    /// Keeps the record of a removed enrollment under a name; if there is one already, the later time is kept.
    func keep(_ left: LeftBehind, of enrollment: Enrollment, by subject: String) throws
    /// Copies the records that still count from some names to another.
    func copyLeftBehind(from subjects: [String], to subject: String, at: Timestamp) throws
    /// Keeps a client's cooling-off for a user who is being unlinked, for as long as the cooling-off itself lasts.
    func keepCoolingOff(of client: ClientID, for user: UserID, at: Timestamp) throws
    /// Keeps when the wait of a method ends, so that this is announced; `confirm` stands for the device itself.
    func insert(_ method: AnswerMethod, of enrollment: EnrollmentID, until: Timestamp) throws
    /// Forgets the wait of a method.
    ///
    /// - Returns: false if there was none.
    @discardableResult
    func delete(_ method: AnswerMethod, of enrollment: EnrollmentID) throws -> Bool
    func deleteAll(of enrollment: EnrollmentID) throws
}
