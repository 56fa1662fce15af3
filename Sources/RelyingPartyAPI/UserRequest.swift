package import CountersignWire
package import Encodings

/// What a relying party makes a user with: `UserRequest` of the contract.
package struct UserRequest: Sendable {
    /// The client's own name for the user; nil for none.
    package var externalID: ExternalID?
    /// The user's mail address; nil for none.
    package var email: EmailAddress?
    /// The user's telephone number; nil for none.
    package var phone: PhoneNumber?

    /// A request with a name.
    package init(externalID: ExternalID?) {
        self.externalID = externalID
    }

    /// The request as JSON.
    package var json: JSONValue {
        Self.json(
            externalID: externalID?.text, email: email.map { "\($0)" }, phone: phone.map { "\($0)" })
    }

    /// A request as a caller writes it, which the server judges.
    package static func json(externalID: String?, email: String? = nil, phone: String? = nil) -> JSONValue {
        .members(["external_id": .text(externalID), "email": .text(email), "phone": .text(phone)])
    }

    /// Reads a request.
    ///
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a name that may not be.
    package init(_ json: JSONValue) throws {
        var members = try JSONMembers(json)
        externalID = try members.externalID()
        email = try members.email()
        phone = try members.phone()
        try members.refuseUnknown()
    }
}

/// What a relying party changes about a user: `UserUpdate` of the contract.
///
/// Spec: RFC 7396 §2.
package struct UserUpdate: Sendable {
    /// The client's own name for the user; nil where it stays, nil inside for none from now on.
    package var externalID: ExternalID??
    /// The user's mail address; nil where it stays, nil inside for none from now on.
    package var email: EmailAddress??
    /// The user's telephone number; nil where it stays, nil inside for none from now on.
    package var phone: PhoneNumber??
    /// Whether the client lets the user enroll no device; nil where that stays.
    package var isEnrollmentBlocked: Bool?
    /// What the client says of the user for itself, as a whole; nil where it stays, nil inside for nothing from now on.
    package var claims: UserClaims??

    /// An update of these parts.
    package init(externalID: ExternalID?? = nil, isEnrollmentBlocked: Bool? = nil) {
        self.externalID = externalID
        self.isEnrollmentBlocked = isEnrollmentBlocked
    }

    /// The update as JSON.
    package var json: JSONValue {
        .members([
            "external_id": externalID.map { $0.map { .string($0.text) } ?? .null },
            "email": email.map { $0.map { .string("\($0)") } ?? .null },
            "phone": phone.map { $0.map { .string("\($0)") } ?? .null },
            "enrollment_blocked": isEnrollmentBlocked.map(JSONValue.bool),
            "claims": claims.map { $0.map { .object($0.json) } ?? .null },
        ])
    }

    /// Reads an update: an absent member leaves its value unchanged, and null removes the value, but ends no block.
    ///
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a name that may not be.
    package init(_ json: JSONValue) throws {
        var members = try JSONMembers(json)
        let externalID = try members.externalID()
        self.externalID = json["external_id"] == nil ? nil : .some(externalID)
        let (email, phone) = (try members.email(), try members.phone())
        self.email = json["email"] == nil ? nil : .some(email)
        self.phone = json["phone"] == nil ? nil : .some(phone)
        isEnrollmentBlocked = try members.optionalBool("enrollment_blocked")
        let shape =
            "an object of 1 to \(UserClaims.maximumLength) bytes, without names that the provider gives or tokens need"
        let claims = try members.optional("claims", shape) { UserClaims($0) }
        self.claims = json["claims"] == nil ? nil : .some(claims)
        try members.refuseUnknown()
    }
}

extension JSONMembers {
    fileprivate mutating func email() throws(JSONShapeError) -> EmailAddress? {
        try optional("email", "a mail address") { $0.string.flatMap { EmailAddress($0) } }
    }

    fileprivate mutating func phone() throws(JSONShapeError) -> PhoneNumber? {
        try optional("phone", "a telephone number: + and 7 to 15 digits") { $0.string.flatMap { PhoneNumber($0) } }
    }

    fileprivate mutating func externalID() throws -> ExternalID? {
        try optionalString("external_id").map { text in
            try refusing(at: "/external_id") { () throws(TextRefusal) in try ExternalID(text) }
        }
    }
}
