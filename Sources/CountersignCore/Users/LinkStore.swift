package import CountersignWire

/// Which client knows which user, and by what name.
///
/// All throw ``StoreError``.
package protocol LinkStore {
    func users(of client: ClientID, limit: Int) throws -> [UserID]
    func find(_ reference: UserReference, of client: ClientID) throws -> LinkedUser?
    func count(of user: UserID) throws -> Int
    /// What clients call a user.
    func externalIDs(of user: UserID) throws -> [(client: ClientID, externalID: ExternalID)]
    /// False when the client already knows another user by this external id.
    func put(_ user: UserID, to client: ClientID, externalID: ExternalID?) throws -> Bool
    /// For a client that is linked to the user.
    func blockEnrollment(_ isBlocked: Bool, of user: UserID, by client: ClientID) throws
    func delete(_ user: UserID, from client: ClientID) throws
}
