package import CountersignWire
package import Encodings

/// The clients.
///
/// All methods throw ``StoreError``.
package protocol ClientStore {
    func find(_ id: ClientID) throws -> Client?
    /// A client with how it uses the OpenID provider; nil in the place of that if it does not.
    func findWithParty(_ id: ClientID) throws -> (client: Client, party: RelyingParty?)?
    /// A client with a type that it has asked by; nil in the place of that if there is no such type any more.
    func find(_ id: ClientID, asking type: TypeName) throws -> (client: Client, type: ChallengeType?)?
    func all() throws -> [Client]
    /// Clients that were deleted; their users may not all be unlinked yet.
    func deleted() throws -> [ClientID]
    func operatorClient() throws -> Client?
    /// Whether a client that is enabled may make a vendor's calls.
    func hasClient(of vendor: Vendor) throws -> Bool
    func insert(_ client: Client, callbackSecret: Secret<String>?) throws
    /// Sets only what changes, so that concurrent changes of different settings do not undo each other.
    func update(_ client: ClientID, _ changes: ClientChanges) throws
    /// Keeps a client from being disabled, deleted or changed until the transaction ends.
    ///
    /// Returns nil if there is no such client.
    func lock(_ client: ClientID) throws -> Client?
    /// Keeps a client, and how it uses the OpenID provider, from being changed or ended until the transaction ends.
    ///
    /// Returns nil if there is no such client, or it does not use the provider.
    func lockWithParty(_ client: ClientID) throws -> (client: Client, party: RelyingParty)?
    /// The same as `lock`, and reads a type that the client asks by; nil in its place if there is no such type.
    func lock(_ client: ClientID, asking type: TypeName) throws -> (client: Client, type: ChallengeType?)?
    /// Replaces the secret; the previous one is accepted until a time.
    func renewSecret(of client: ClientID, to secret: SecretHash, earlierUntil: Timestamp) throws
    /// Disables a client from a time on, or enables it if the time is nil.
    func disable(_ client: ClientID, at: Timestamp?) throws
    /// Deletes a client except for what challenges and devices refer to; lookups no longer find it.
    func delete(_ client: ClientID, at: Timestamp) throws
    /// Replaces the callback secret; the previous one also signs until a time.
    func renewCallbackSecret(of client: ClientID, to secret: Secret<String>, earlierUntil: Timestamp) throws
}
