package import CountersignWire
package import Encodings

/// The clients.
///
/// All throw ``StoreError``.
package protocol ClientStore {
    func find(_ id: ClientID) throws -> Client?
    func all() throws -> [Client]
    /// Clients that were deleted, of which something may be left.
    func deleted() throws -> [ClientID]
    func operatorClient() throws -> Client?
    func insert(_ client: Client, callbackSecret: Secret<String>?) throws
    /// Sets what changes and nothing else: of two at once neither takes back what the other did.
    func update(_ client: ClientID, _ changes: ClientChanges) throws
    /// Keeps a client from being disabled, deleted or changed until the transaction ends.
    ///
    /// Nil for one that is not there.
    func lock(_ client: ClientID) throws -> Client?
    /// The secret of before lets in until a time.
    func renewSecret(of client: ClientID, to secret: SecretHash, earlierUntil: Timestamp) throws
    /// Disables a client from a time on, or, for nil, enables it.
    func disable(_ client: ClientID, at: Timestamp?) throws
    /// Keeps of a client only what challenges and devices refer to; it is not there any more.
    func delete(_ client: ClientID, at: Timestamp) throws
    /// The secret of before signs until a time.
    func renewCallbackSecret(of client: ClientID, to secret: Secret<String>, earlierUntil: Timestamp) throws
}
