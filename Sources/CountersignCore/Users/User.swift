package import CountersignWire
import Encodings

/// A user as one client knows them.
package struct LinkedUser: Hashable, Sendable {
    /// The user.
    package let id: UserID
    /// The client's own name for the user; nil for none.
    package let externalID: ExternalID?
    /// Whether the client blocks the user from enrolling devices through it.
    package let isEnrollmentBlocked: Bool
    /// When the user was created.
    package let createdAt: Timestamp

    /// A user of these parts.
    package init(id: UserID, externalID: ExternalID?, isEnrollmentBlocked: Bool = false, createdAt: Timestamp) {
        self.id = id
        self.externalID = externalID
        self.isEnrollmentBlocked = isEnrollmentBlocked
        self.createdAt = createdAt
    }
}
