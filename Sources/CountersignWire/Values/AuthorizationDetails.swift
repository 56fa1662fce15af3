package import Encodings

/// A kind of thing that a client may have people authorize in detail, as an operator has set it.
///
/// Each member of what the client sends becomes a line that a device shows and signs; it can have no others.
///
/// Spec: RFC 9396 §2, §10.
package struct AuthorizationDetailType: Hashable, Sendable {
    /// A member, and the label of its line.
    package struct Field: Hashable, Sendable {
        /// The names that lead to the member, from the outside.
        package let path: [String]
        /// The label.
        package let label: DisplayLine
        /// Whether the member may be left out.
        package let isOptional: Bool

        /// A member.
        package init(path: [String], label: DisplayLine, isOptional: Bool = false) {
            self.path = path
            self.label = label
            self.isOptional = isOptional
        }
    }

    /// How many a client may have.
    package static let maximumCount = 20
    /// How many members one may have.
    package static let maximumFields = 30
    /// How deep a member may be.
    package static let maximumDepth = 4

    /// The value of `type`.
    package let name: String
    /// The line before those of the members, which says what it is.
    package let heading: Detail
    /// The members, in the order of their lines.
    package let fields: [Field]

    /// A type of these parts.
    package init(name: String, heading: Detail, fields: [Field]) {
        self.name = name
        self.heading = heading
        self.fields = fields
    }

    /// The member that names the type.
    package static let typeMember = "type"

    /// Whether one member is another one, or lies in it.
    package static func isSame(_ path: [String], orWithin other: [String]) -> Bool {
        path.starts(with: other) { $0.hasSameBytes(as: $1) }
    }

    /// The lines of what a client has sent.
    fileprivate func lines(of object: JSONValue) throws(AuthorizationDetails.Refusal) -> [Detail] {
        try checkMembers(of: object, at: [])
        var lines = [heading]
        for field in fields {
            guard let value = field.path.reduce(Optional(object), { $0?[$1] }) else {
                // check: AuthorizationDetailsTests.refused
                guard field.isOptional else { throw .memberMissing }
                continue
            }
            let values = value.array ?? [value]
            // Nothing would show that it was there.
            // check: AuthorizationDetailsTests.refused
            guard !values.isEmpty else { throw .valueNotShown }
            for value in values { try lines.append(field.line(of: value)) }
        }
        return lines
    }

    /// Refuses members for which there is no line: nobody would see them.
    ///
    /// Spec: RFC 9396 §5.
    private func checkMembers(of object: JSONValue, at path: [String]) throws(AuthorizationDetails.Refusal) {
        for member in object.object?.members ?? [] {
            if path.isEmpty, member.name.hasSameBytes(as: Self.typeMember) { continue }
            let place = path + [member.name]
            let within = fields.filter { Self.isSame($0.path, orWithin: place) }
            // check: AuthorizationDetailsTests.refused
            guard !within.isEmpty else { throw .unknownMember }
            if within.contains(where: { $0.path.count == place.count }) { continue }
            // Also what is empty, and nothing shows.
            let isFilled = member.value.object?.members.isEmpty == false
            // check: AuthorizationDetailsTests.refused
            guard isFilled else { throw .valueNotShown }
            try checkMembers(of: member.value, at: place)
        }
    }
}

extension AuthorizationDetailType.Field {
    fileprivate func line(of value: JSONValue) throws(AuthorizationDetails.Refusal) -> Detail {
        let text: String
        switch value {
        case .string(let string): text = string
        case .integer(let number): text = "\(number)"
        case .bool(let flag): text = "\(flag)"
        // A number with a fraction has many texts, and what has parts needs a line for each.
        case .null, .double, .array, .object: throw .valueNotShown
        }
        do throws(TextRefusal) {
            return try Detail(label: label.text, value: text)
        } catch {
            throw .textNotShown
        }
    }
}

/// What a client wants a person to authorize in detail.
///
/// Spec: RFC 9396 §2.
package struct AuthorizationDetails: Hashable, Sendable {
    /// The parameter.
    package static let parameter = "authorization_details"
    /// How many there may be in a request.
    package static let maximumCount = 10
    /// How many lines they may have together, as many as a challenge may have.
    package static let maximumLines = 32
    /// How long the parameter may be, in bytes.
    package static let maximumLength = 4096

    /// Why they are refused, for the client's developer.
    package enum Refusal: String, Error, Hashable, Sendable {
        case tooLong = "authorization_details has more than 4096 bytes"
        case malformed = "authorization_details must be a JSON array of 1 to 10 objects"
        case unknownType = "a type is missing, or none that the client may use"
        case unknownMember = "a member is none of its type"
        case memberMissing = "a member of the type is missing"
        case valueNotShown = "a value is no text, whole number or truth value, nor a list of these, or is empty"
        case textNotShown = "a text is empty or too long, or could deceive whoever reads it"
        case tooManyLines = "they have more than 32 lines"
    }

    /// They themselves, an array.
    package let json: JSONValue
    /// The lines that a device shows and signs.
    package let lines: [Detail]

    /// Reads the parameter.
    ///
    /// - Parameters:
    ///   - text: the parameter.
    ///   - types: what the client may use.
    package init(_ text: String, of types: [AuthorizationDetailType]) throws(Refusal) {
        // check: AuthorizationDetailsTests.refused
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        guard let json = try? JSONValue(parsing: Array(text.utf8)), let elements = json.array else {
            throw .malformed
        }
        // check: AuthorizationDetailsTests.refused
        guard (1...Self.maximumCount).contains(elements.count) else { throw .malformed }
        var lines: [Detail] = []
        for element in elements {
            guard let name = element[AuthorizationDetailType.typeMember]?.string,
                let type = types.first(where: { $0.name.hasSameBytes(as: name) })
            else { throw .unknownType }
            lines += try type.lines(of: element)
        }
        // check: AuthorizationDetailsTests.refused
        guard lines.count <= Self.maximumLines else { throw .tooManyLines }
        self.json = json
        self.lines = lines
    }

    /// The form in which they travel with a page and in which a row holds them, sealed: with the lines that were
    /// checked, whatever becomes of the settings.
    package var kept: JSONValue {
        [
            "details": json,
            "lines": .array(lines.map { .array([.string($0.label.text), .string($0.value.text)]) }),
        ]
    }

    /// Reads the form; nil if it is malformed.
    package init?(kept: JSONValue) {
        guard let json = kept["details"], let pairs = kept["lines"]?.array else { return nil }
        let lines = pairs.compactMap { pair -> Detail? in
            guard let label = pair[0]?.string, let value = pair[1]?.string else { return nil }
            return try? Detail(label: label, value: value)
        }
        guard lines.count == pairs.count else { return nil }
        self.json = json
        self.lines = lines
    }
}
