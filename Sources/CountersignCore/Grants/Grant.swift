package import CountersignWire

/// What a user has allowed a client.
///
/// Spec: OpenID Connect Core 1.0 §3.1.2.4.
package struct Grant: Equatable, Sendable {
    /// The user.
    package let user: UserID
    /// The client.
    package let client: ClientID
    /// The scopes.
    package let scopes: Set<String>
    /// When the user allowed them last.
    package let givenAt: Timestamp

    /// A grant of these parts.
    package init(user: UserID, client: ClientID, scopes: Set<String>, givenAt: Timestamp) {
        self.user = user
        self.client = client
        self.scopes = scopes
        self.givenAt = givenAt
    }
}

/// The grants: at most one of each user for a client.
///
/// All methods throw ``StoreError``.
package protocol GrantStore {
    func find(_ user: UserID, for client: ClientID) throws -> Grant?
    /// Puts a grant in the place of an earlier one.
    func put(_ grant: Grant) throws
    func deleteGrant(of user: UserID, for client: ClientID) throws
    /// The grants of a user, oldest client first.
    func grants(of user: UserID) throws -> [Grant]
}
