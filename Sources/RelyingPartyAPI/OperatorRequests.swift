package import CountersignWire
package import Encodings

/// How an operator has a message sent, to see that it arrives: `TestMessageRequest` of the contract.
package struct TestMessageRequest: Sendable {
    /// Which text; nil for the test.
    package var template: MessageTemplate?
    /// Where to.
    package var address: PersonalAddress
    /// The language; nil for the server's.
    package var language: LanguageTag?

    /// The request as JSON.
    package var json: JSONValue {
        let (email, phone): (String?, String?) =
            switch address {
            case .email(let address): ("\(address)", nil)
            case .phone(let number): (nil, "\(number)")
            }
        return Self.json(
            email: email, phone: phone, template: template?.rawValue, language: language?.description)
    }

    /// A request as a caller writes it, which the server judges.
    package static func json(email: String?, phone: String?, template: String?, language: String?) -> JSONValue {
        .members([
            "email": .text(email), "phone": .text(phone), "template": .text(template), "language": .text(language),
        ])
    }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        let email = try members.optional("email", "a mail address") { $0.string.flatMap { EmailAddress($0) } }
        let phone = try members.optional("phone", "a telephone number with + and the country's code") {
            $0.string.flatMap { PhoneNumber($0) }
        }
        template = try members.optional("template", "\"test\" or \"code\"") {
            $0.string.flatMap { MessageTemplate(rawValue: $0) }
        }
        language = try members.optional("language", "a language, such as de or pt-BR") {
            $0.string.flatMap { LanguageTag($0) }
        }
        try members.refuseUnknown()
        switch (email, phone) {
        case (let email?, nil): address = .email(email)
        case (nil, let phone?): address = .phone(phone)
        case (nil, nil): throw .missing(pointer: "/email")
        case (_?, _?): throw .invalid(pointer: "/phone", expected: "absent where email is present")
        }
    }
}

/// How an operator has a key of the issuer's rotated: `RotationRequest` of the contract.
package struct RotationRequest: Sendable {
    /// Whether the new key is used as soon as every server holds it.
    package var isAtOnce: Bool
    /// Whether somebody else may have the earlier key.
    package var isCompromised: Bool

    /// A request of these parts.
    package init(isAtOnce: Bool, isCompromised: Bool) {
        self.isAtOnce = isAtOnce
        self.isCompromised = isCompromised
    }

    /// The request as JSON.
    package var json: JSONValue { ["at_once": .bool(isAtOnce), "compromised": .bool(isCompromised)] }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        isAtOnce = try members.optionalBool("at_once") ?? false
        isCompromised = try members.optionalBool("compromised") ?? false
        try members.refuseUnknown()
    }
}

/// How long the replaced secret of a client remains valid: `ClientSecretRequest` and `CallbackSecretRequest` of the
/// contract.
package struct SecretRequest: Sendable {
    /// For how long; nil for as long as the server says.
    package var overlap: Seconds?

    /// A request of these parts.
    package init(overlap: Seconds?) {
        self.overlap = overlap
    }

    /// The request as JSON.
    package var json: JSONValue { .members(["overlap": overlap.map { .integer($0.value) }]) }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        overlap = try members.optionalSeconds("overlap", in: 0...Seconds.days(7))
        try members.refuseUnknown()
    }
}
