package import CountersignWire

/// An address that its user has proved to read.
///
/// It is one user's in the whole deployment; or at one client alone, if the client is a third party on whose word the
/// address is this user's.
package struct VerifiedIdentifier: Equatable, Sendable {
    /// How many a user may add on their account page; all are told of each change.
    package static let maximumCount = 10

    /// Its id.
    package let id: IdentifierID
    /// The user.
    package let user: UserID
    /// The address.
    package let address: PersonalAddress
    /// When the user proved it.
    package let verifiedAt: Timestamp
    /// The only client at which it counts; nil for all.
    package let client: ClientID?

    /// An identifier of these parts.
    package init(
        id: IdentifierID, user: UserID, address: PersonalAddress, verifiedAt: Timestamp, client: ClientID? = nil
    ) {
        self.id = id
        self.user = user
        self.address = address
        self.verifiedAt = verifiedAt
        self.client = client
    }

    /// Whether it says at a client who somebody is.
    func isGood(at client: ClientID) -> Bool { self.client == nil || self.client == client }
}

/// An address of a user on the word of one client.
///
/// It is found for that client alone, and each client has its own: what one client says decides nothing for another.
package struct ClaimedIdentifier: Equatable, Sendable {
    /// Its id.
    package let id: IdentifierID
    /// The user.
    package let user: UserID
    /// The address.
    package let address: PersonalAddress
    /// The client whose word it is.
    package let client: ClientID
    /// When the client said so.
    package let claimedAt: Timestamp
    /// When the user proved it, if the client is a third party; nil if the user has not.
    package let provedAt: Timestamp?

    /// An identifier of these parts.
    package init(
        id: IdentifierID, user: UserID, address: PersonalAddress, client: ClientID, claimedAt: Timestamp,
        provedAt: Timestamp? = nil
    ) {
        self.id = id
        self.user = user
        self.address = address
        self.client = client
        self.claimedAt = claimedAt
        self.provedAt = provedAt
    }

    /// The address as its user has proved it; nil if the user has not.
    package var proved: VerifiedIdentifier? {
        provedAt.map { VerifiedIdentifier(id: id, user: user, address: address, verifiedAt: $0, client: client) }
    }
}

/// An address as rows are found by it: its kind, and a keyed hash.
package struct IdentifierName: Hashable, Sendable {
    /// The kind of address.
    package let kind: PersonalAddress.Kind
    /// The keyed hash, in which the case of letters does not count.
    package let hash: KeyedHash

    /// A name of these parts.
    package init(kind: PersonalAddress.Kind, hash: KeyedHash) {
        self.kind = kind
        self.hash = hash
    }
}

/// The addresses of users, by which people say who they are.
///
/// All methods throw ``StoreError``.
package protocol IdentifierStore {
    /// The verified identifier of a name that counts at all clients, whoever's it is.
    func verified(_ name: IdentifierName) throws -> VerifiedIdentifier?
    /// A verified identifier, or a claim that was proved.
    func verified(_ id: IdentifierID) throws -> VerifiedIdentifier?
    /// A client's claim on a name.
    func claim(_ name: IdentifierName, by client: ClientID) throws -> ClaimedIdentifier?
    /// A user's identifiers, oldest first: those that are verified at all clients, and what clients claim.
    func identifiers(of user: UserID) throws -> (verified: [VerifiedIdentifier], claims: [ClaimedIdentifier])
    /// Adds a verified identifier.
    ///
    /// - Returns: false if it is somebody's already.
    func insert(_ identifier: VerifiedIdentifier, as name: IdentifierName) throws -> Bool
    /// Adds a claim.
    ///
    /// - Returns: false if the client claims the name already.
    func insert(_ claim: ClaimedIdentifier, as name: IdentifierName) throws -> Bool
    /// Notes that a user has proved what a third party claims.
    func prove(_ claim: IdentifierID, at: Timestamp) throws
    /// Notes that a user has removed an address, so that no client's word makes it theirs again.
    func noteRemoved(_ name: IdentifierName, of user: UserID, at: Timestamp) throws
    /// When a user has removed an address that they have not proved since; nil if they have not.
    func removed(_ name: IdentifierName, of user: UserID) throws -> Timestamp?
    /// Forgets that a user has removed an address, which they have proved again.
    func forgetRemoved(_ name: IdentifierName, of user: UserID) throws
    /// Deletes an identifier of either kind.
    func delete(_ id: IdentifierID) throws
    /// The claims of all clients on a name.
    func claims(on name: IdentifierName) throws -> [ClaimedIdentifier]
    /// Deletes what a client claims of a user or, without a client, all identifiers of a user, and which they have removed.
    func deleteIdentifiers(of user: UserID, claimedBy client: ClientID?) throws
}

extension IdentifierStore {
    /// A user's identifiers that are verified at all clients, oldest first.
    package func verified(of user: UserID) throws -> [VerifiedIdentifier] { try identifiers(of: user).verified }
    /// What clients claim of a user, oldest first.
    package func claims(of user: UserID) throws -> [ClaimedIdentifier] { try identifiers(of: user).claims }
}
