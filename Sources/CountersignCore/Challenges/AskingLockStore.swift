package import CountersignWire

/// Which client may not ask which user.
///
/// All throw ``StoreError``.
package protocol AskingLockStore {
    func exists(of user: UserID, by client: ClientID) throws -> Bool
    /// In the order of their challenges.
    func list(after id: ChallengeID?, limit: Int) throws -> [AskingLock]
    /// Keeps the first one of a user and a client.
    func put(_ lock: AskingLock) throws
    /// Nil when there is none.
    func end(of challenge: ChallengeID) throws -> AskingLock?
}
