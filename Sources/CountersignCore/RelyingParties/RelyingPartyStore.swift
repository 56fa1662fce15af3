package import CountersignWire

/// How clients use the OpenID provider.
///
/// All methods throw ``StoreError``.
package protocol RelyingPartyStore {
    func find(_ client: ClientID) throws -> RelyingParty?
    /// The same, and keeps it from being changed or removed until the transaction ends.
    func lock(_ client: ClientID) throws -> RelyingParty?
    func put(_ party: RelyingParty) throws
    /// Returns false if the client had no such settings.
    func delete(_ client: ClientID) throws -> Bool
}
