package import CountersignWire
package import Encodings

/// What a relying party makes a user with: `UserRequest` of the contract.
package struct UserRequest: Sendable {
    /// The client's own name for the user; nil for none.
    package var externalID: ExternalID?

    /// A request with a name.
    package init(externalID: ExternalID?) {
        self.externalID = externalID
    }

    /// The request as JSON.
    package var json: JSONValue { Self.json(externalID: externalID?.text) }

    /// A request as a caller writes it, which the server judges.
    package static func json(externalID: String?) -> JSONValue { .members(["external_id": .text(externalID)]) }

    /// Reads a request.
    ///
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a name that may not be.
    package init(_ json: JSONValue) throws {
        var members = try JSONMembers(json)
        externalID = try members.externalID()
        try members.refuseUnknown()
    }
}

/// What a relying party changes about a user: `UserUpdate` of the contract.
///
/// Spec: RFC 7396 §2.
package struct UserUpdate: Sendable {
    /// The client's own name for the user; nil where it stays, nil inside for none from now on.
    package var externalID: ExternalID??
    /// Whether the client lets the user enroll no device; nil where that stays.
    package var isEnrollmentBlocked: Bool?

    /// An update of these parts.
    package init(externalID: ExternalID?? = nil, isEnrollmentBlocked: Bool? = nil) {
        self.externalID = externalID
        self.isEnrollmentBlocked = isEnrollmentBlocked
    }

    /// The update as JSON.
    package var json: JSONValue {
        .members([
            "external_id": externalID.map { $0.map { .string($0.text) } ?? .null },
            "enrollment_blocked": isEnrollmentBlocked.map(JSONValue.bool),
        ])
    }

    /// Reads an update: an absent member leaves its value unchanged, and null removes the value.
    ///
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a name that may not be.
    package init(_ json: JSONValue) throws {
        var members = try JSONMembers(json)
        let externalID = try members.externalID()
        self.externalID = json["external_id"] == nil ? nil : .some(externalID)
        isEnrollmentBlocked = try members.optionalBool("enrollment_blocked")
        try members.refuseUnknown()
    }
}

extension JSONMembers {
    fileprivate mutating func externalID() throws -> ExternalID? {
        try optionalString("external_id").map { text in
            try refusing(at: "/external_id") { () throws(TextRefusal) in try ExternalID(text) }
        }
    }
}
