package import CountersignWire

/// How clients use the OpenID provider.
///
/// All methods throw ``StoreError``.
package protocol RelyingPartyStore {
    func find(_ client: ClientID) throws -> RelyingParty?
    /// The same, and keeps it from being changed or removed until the transaction ends.
    func lock(_ client: ClientID) throws -> RelyingParty?
    /// - Parameter isAccount: whether people sign in to their account page through the client.
    func put(_ party: RelyingParty, isAccount: Bool) throws
    /// Whether an origin is that of a client's pages; the client is enabled.
    func isOrigin(_ origin: String) throws -> Bool
    /// The client that is the API of this name; nil for none.
    func owner(of resource: ResourceIdentifier) throws -> ClientID?
    /// The client through which people sign in to their account page: the oldest that is enabled; nil for none.
    func account() throws -> ClientID?
    /// The clients whose settings name a challenge type, by id.
    func namers(of type: TypeName) throws -> [ClientID]
    /// Returns false if the client had no such settings.
    func delete(_ client: ClientID) throws -> Bool
}
