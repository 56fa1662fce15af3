package import CountersignWire

/// The pending erasures.
///
/// All methods throw ``StoreError``.
package protocol ErasureStore {
    /// A pending erasure, of a user or, without one, of anybody; nil if there is none.
    func next(of user: UserID?) throws -> Erasure?
    /// Adds the erasure of what a client has asked a user until now.
    func put(of user: UserID, by client: ClientID, at: Timestamp) throws
    /// Adds the erasures of what all clients have asked a user until now.
    func putAll(of user: UserID, at: Timestamp) throws
    /// Erases a batch of personal data, and returns the number of rows.
    func erase(_ erasure: Erasure, limit: Int) throws -> Int
    /// Removes an erasure that is complete.
    func delete(_ erasure: Erasure) throws
}
