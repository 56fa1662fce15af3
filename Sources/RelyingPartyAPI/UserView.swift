package import CountersignWire
package import Encodings

/// A user as one client knows them: `User` of the contract.
package struct UserView: Sendable {
    /// An address of the user, on the client's word.
    package struct Address: Hashable, Sendable {
        /// The address.
        package var text: String
        /// Whether the user has proved it.
        package var isVerified: Bool

        /// An address of these parts.
        package init(_ text: String, isVerified: Bool) {
            self.text = text
            self.isVerified = isVerified
        }
    }

    /// The user.
    package var id: UserID
    /// The client's own name for them; nil for none.
    package var externalID: String?
    /// The mail address; nil for none.
    package var email: Address?
    /// The telephone number; nil for none.
    package var phone: Address?
    /// Whether the client lets the user enroll no device.
    package var isEnrollmentBlocked: Bool
    /// What the client says of the user for itself; nil for nothing.
    package var claims: UserClaims?
    /// When the user was made.
    package var createdAt: Timestamp

    /// A view of these parts.
    package init(
        id: UserID, externalID: String?, email: Address? = nil, phone: Address? = nil, isEnrollmentBlocked: Bool,
        claims: UserClaims? = nil, createdAt: Timestamp
    ) {
        self.id = id
        self.externalID = externalID
        self.email = email
        self.phone = phone
        self.isEnrollmentBlocked = isEnrollmentBlocked
        self.claims = claims
        self.createdAt = createdAt
    }

    /// The view as JSON.
    package var json: JSONValue {
        .members([
            "id": .text(id), "external_id": .text(externalID), "email": .text(email?.text),
            "email_verified": email.map { .bool($0.isVerified) }, "phone": .text(phone?.text),
            "phone_verified": phone.map { .bool($0.isVerified) },
            "enrollment_blocked": isEnrollmentBlocked ? true : nil, "claims": claims.map { .object($0.json) },
            "created_at": .text(createdAt),
        ])
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        id = try members.id("id")
        externalID = try members.optionalString("external_id")
        email = try members.address("email")
        phone = try members.address("phone")
        isEnrollmentBlocked = try members.optionalBool("enrollment_blocked") ?? false
        claims = try members.optional("claims", "claims of the client") { UserClaims($0) }
        createdAt = try members.time("created_at")
    }
}

extension JSONMembers {
    fileprivate mutating func address(_ name: String) throws(JSONShapeError) -> UserView.Address? {
        let isVerified = try optionalBool("\(name)_verified") ?? false
        return try optionalString(name).map { UserView.Address($0, isVerified: isVerified) }
    }
}
