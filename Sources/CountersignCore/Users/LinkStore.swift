package import CountersignWire

/// The links between clients and users, with the clients' external ids.
///
/// All methods throw ``StoreError``.
package protocol LinkStore {
    func users(of client: ClientID, limit: Int) throws -> [UserID]
    func find(_ reference: UserReference, of client: ClientID) throws -> LinkedUser?
    /// How many clients know a user, besides the one of the account page.
    func count(of user: UserID) throws -> Int
    /// Whether any client knows a user, also the one of the account page.
    func isLinked(_ user: UserID) throws -> Bool
    /// The external ids of a user at all clients.
    func externalIDs(of user: UserID) throws -> [(client: ClientID, externalID: ExternalID)]
    /// Links a user to a client, or changes the external id; returns false if the client has another user with this
    /// external id.
    func put(_ user: UserID, to client: ClientID, externalID: ExternalID?) throws -> Bool
    /// Sets whether a client blocks a user from enrolling devices; the client must be linked to the user.
    func blockEnrollment(_ isBlocked: Bool, of user: UserID, by client: ClientID) throws
    /// What a client says of a user for itself; nil for nothing, and where it is not linked to the user.
    func claims(of user: UserID, for client: ClientID) throws -> UserClaims?
    /// Replaces what a client says of a user; the client must be linked to the user.
    func setClaims(_ claims: UserClaims?, of user: UserID, by client: ClientID) throws
    func delete(_ user: UserID, from client: ClientID) throws
    /// Deletes all links of a user, also those that are not counted.
    func deleteLinks(of user: UserID) throws
}
