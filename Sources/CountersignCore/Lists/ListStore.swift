package import CountersignWire
package import OpenPGP

/// Pages of lists.
///
/// All throw ``StoreError``.
package protocol ListStore {
    /// Those that a client knows, in the order of their ids.
    func users(of client: ClientID, after id: UserID?, limit: Int) throws -> [LinkedUser]
    /// In the order of their ids, those who are deleted among them.
    func users(after id: UserID?, limit: Int) throws -> [UserID]
    /// Of all users of a client, in their order.
    func enrollments(
        of client: ClientID, after place: (UserID, EnrollmentID)?, limit: Int
    ) throws -> [(user: UserID, enrollment: EnrollmentID)]
    /// Of everybody, oldest first.
    func enrollments(after id: EnrollmentID?, limit: Int) throws -> [(user: UserID, enrollment: EnrollmentID)]
    /// The one that has a key.
    func enrolled(_ fingerprint: Fingerprint) throws -> (user: UserID, enrollment: EnrollmentID)?
    /// Newest first.
    func challenges(
        in scope: ListScope, of user: UserID?, before place: ListChallenges.Place?, limit: Int
    ) throws -> [ChallengeEntry]
}
