package import CountersignWire

/// The users.
///
/// All methods throw ``StoreError``.
package protocol UserStore {
    /// A user as operators see them, also a deleted one.
    func find(_ id: UserID) throws -> KnownUser?
    func insert(_ id: UserID, at: Timestamp) throws
    /// Keeps others from adding, removing or changing devices of a user until the transaction ends.
    func lock(_ user: UserID) throws
    /// What is kept of the code without which no client's server has the user asked; nil for none.
    func userCode(of user: UserID) throws -> KeyedHash?
    func setUserCode(_ code: KeyedHash?, of user: UserID) throws
    /// Marks a user as deleted, and forgets their code.
    func markDeleted(_ user: UserID, at: Timestamp) throws
}
