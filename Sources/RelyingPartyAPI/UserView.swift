package import CountersignWire
package import Encodings

/// A user as one client knows them: `User` of the contract.
package struct UserView: Sendable {
    /// The user.
    package var id: UserID
    /// The client's own name for them; nil for none.
    package var externalID: String?
    /// Whether the client lets the user enroll no device.
    package var isEnrollmentBlocked: Bool
    /// When the user was made.
    package var createdAt: Timestamp

    /// A view of these parts.
    package init(id: UserID, externalID: String?, isEnrollmentBlocked: Bool, createdAt: Timestamp) {
        self.id = id
        self.externalID = externalID
        self.isEnrollmentBlocked = isEnrollmentBlocked
        self.createdAt = createdAt
    }

    /// The view as JSON.
    package var json: JSONValue {
        .members([
            "id": .text(id), "external_id": .text(externalID), "enrollment_blocked": isEnrollmentBlocked ? true : nil,
            "created_at": .text(createdAt),
        ])
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        id = try members.id("id")
        externalID = try members.optionalString("external_id")
        isEnrollmentBlocked = try members.optionalBool("enrollment_blocked") ?? false
        createdAt = try members.time("created_at")
    }
}
