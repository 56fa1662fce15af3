package import CountersignWire
package import OpenPGP

/// Reads pages of lists.
///
/// All methods throw ``StoreError``.
package protocol ListStore {
    /// The users that a client knows, in the order of their ids.
    func users(of client: ClientID, after id: UserID?, limit: Int) throws -> [LinkedUser]
    /// All users in the order of their ids, including deleted ones.
    func users(after id: UserID?, limit: Int) throws -> [UserID]
    /// The enrollments of all users of a client, in the order of the users' ids.
    func enrollments(
        of client: ClientID, after place: (UserID, EnrollmentID)?, limit: Int
    ) throws -> [(user: UserID, enrollment: EnrollmentID)]
    /// The enrollments of all users, oldest first.
    func enrollments(after id: EnrollmentID?, limit: Int) throws -> [(user: UserID, enrollment: EnrollmentID)]
    /// The enrollment whose primary key has this fingerprint.
    func enrolled(_ fingerprint: Fingerprint) throws -> (user: UserID, enrollment: EnrollmentID)?
    /// Challenges, newest first; of a client without those that ask about sign-ins.
    func challenges(
        in scope: ListScope, of user: UserID?, before place: ListChallenges.Place?, limit: Int
    ) throws -> [ChallengeEntry]
}
