package import CountersignWire

/// What is still to be erased of users who are gone.
///
/// All throw ``StoreError``.
package protocol ErasureStore {
    /// What is still to be erased; nil for nothing.
    func next() throws -> Erasure?
    /// What a client has asked a user until now is to be erased.
    func put(of user: UserID, by client: ClientID, at: Timestamp) throws
    /// Erases a batch of what is personal, and tells how many rows there were.
    func erase(_ erasure: Erasure, limit: Int) throws -> Int
    /// Nothing is left to be erased.
    func delete(_ erasure: Erasure) throws
}
