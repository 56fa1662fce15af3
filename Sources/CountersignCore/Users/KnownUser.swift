package import CountersignWire

/// How one client knows a user.
package struct UserLink: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// Its own name for the user.
    package let externalID: ExternalID?
    /// Whether it lets the user enroll no device.
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
    /// When they were made.
    package let createdAt: Timestamp
    /// When they were deleted; nil for those who are there.
    package let deletedAt: Timestamp?
    /// The clients that know them.
    package let links: [UserLink]

    /// A user of these parts.
    package init(id: UserID, createdAt: Timestamp, deletedAt: Timestamp?, links: [UserLink]) {
        self.id = id
        self.createdAt = createdAt
        self.deletedAt = deletedAt
        self.links = links
    }
}
