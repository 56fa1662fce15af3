package import CountersignWire

/// The challenges.
///
/// All throw ``StoreError``.
package protocol ChallengeStore {
    /// The pending challenges of a client; questions about new devices are left out.
    func open(of client: ClientID, limit: Int) throws -> [ChallengeID]
    func open(of client: ClientID, user: UserID) throws -> [ChallengeID]
    func find(_ id: ChallengeID) throws -> Challenge?
    /// A challenge with its receipt, as evidence; nil if there is no such challenge.
    func findWithReceipt(_ id: ChallengeID) throws -> (challenge: Challenge, receipt: Evidence?)?
    /// What a client has asked a user; codes and questions about new devices do not count.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - client: the client.
    ///   - now: the current time.
    ///   - since: from when on asks are recent.
    ///   - limits: how many open challenges are counted, and how many recent asks returned, at most; none of an earlier
    ///     second than the last approved one.
    func asks(
        of user: UserID, by client: ClientID, now: Timestamp, since: Timestamp, limits: (open: Int, recent: Int)
    ) throws -> EarlierAsks
    /// Those that a device has approved and whose codes were not presented yet.
    func held(approvedBy enrollment: EnrollmentID, user: UserID, now: Timestamp) throws -> [Challenge]
    /// Those that have not ended.
    func open(of user: UserID) throws -> [Challenge]
    func overdue(now: Timestamp, limit: Int) throws -> [ChallengeID]
    func insert(_ challenge: Challenge, targets: [EnrollmentID]) throws
    /// Puts a challenge that waits for it to the device that presents its code.
    ///
    /// False when it has ended, or is over, or another user's, or somebody else was first.
    func claim(
        _ challenge: ChallengeID, by enrollment: EnrollmentID, of user: UserID, at: Timestamp
    ) throws -> Bool
    /// Keeps a challenge that a device has approved until its client presents the code, or the time is up.
    ///
    /// From then on nothing ends it but that, a cancellation, the removal of the device or its time. False when it has ended, or is over, or was
    /// approved before.
    func holdForReturn(
        _ challenge: ChallengeID, approvedBy method: AnswerMethod, on enrollment: EnrollmentID, until: Timestamp,
        at: Timestamp
    ) throws -> Bool
    /// Ends a challenge if it is still pending and, unless it expires, not yet over: the one update that decides every
    /// race.
    ///
    /// False when somebody else was first.
    func end(_ challenge: ChallengeID, as outcome: ChallengeOutcome, at: Timestamp) throws -> Bool
}
