package import CountersignWire

/// How one client knows a user.
package struct UserLink: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// The client's own name for the user; nil for none.
    package let externalID: ExternalID?
    /// Whether the client blocks the user from enrolling devices through it.
    package let isEnrollmentBlocked: Bool

    /// A link of these parts.
    package init(client: ClientID, externalID: ExternalID?, isEnrollmentBlocked: Bool) {
        self.client = client
        self.externalID = externalID
        self.isEnrollmentBlocked = isEnrollmentBlocked
    }
}

/// A user as operators see them.
package struct KnownUser: Hashable, Sendable {
    /// The user.
    package let id: UserID
    /// When the user was created.
    package let createdAt: Timestamp
    /// When the user was deleted; nil if they were not.
    package let deletedAt: Timestamp?
    /// The clients that are linked to the user.
    package let links: [UserLink]

    /// A user of these parts.
    package init(id: UserID, createdAt: Timestamp, deletedAt: Timestamp?, links: [UserLink]) {
        self.id = id
        self.createdAt = createdAt
        self.deletedAt = deletedAt
        self.links = links
    }
}
