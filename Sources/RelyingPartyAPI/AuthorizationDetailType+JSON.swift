import CountersignWire
import Encodings

/// A type of what people authorize in detail, as JSON: `AuthorizationDetailType` of the contract.
extension AuthorizationDetailType {
    /// The type as JSON.
    var json: JSONValue {
        [
            "type": .string(name), "label": .string(heading.label.text), "value": .string(heading.value.text),
            "fields": .array(
                fields.map { field in
                    .members([
                        "path": .array(field.path.map(JSONValue.string)), "label": .string(field.label.text),
                        "optional": field.isOptional ? true : nil,
                    ])
                }),
        ]
    }

    /// Reads a type.
    ///
    /// - Throws: ``JSONShapeError``.
    init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        let name = try members.required("type", "1 to 100 printable ASCII characters without quotes or blanks") {
            $0.string.flatMap { ProtectedResource.isScope($0) ? $0 : nil }
        }
        let label = try members.required("label", Self.expectedLabel, Self.label)
        let heading = try members.required("value", "a line that may be shown") { json in
            json.string.flatMap { try? Detail(label: label.text, value: $0) }
        }
        let fields = try members.array("fields").map { element throws(JSONShapeError) in
            try Field(element.value, at: element.pointer)
        }
        try members.refuseUnknown()
        guard (1...Self.maximumFields).contains(fields.count) else {
            throw .invalid(pointer: members.pointer(to: "fields"), expected: "1 to \(Self.maximumFields) fields")
        }
        for (index, field) in fields.enumerated() {
            let others = fields[..<index] + fields[(index + 1)...]
            let isApart = !others.contains { Self.isSame(field.path, orWithin: $0.path) }
            // A line that is in another one's member would say it twice, or one of them not at all.
            // check: AuthorizedDetailsTests.settings
            guard isApart else {
                throw .invalid(
                    pointer: "\(members.pointer(to: "fields"))/\(index)/path",
                    expected: "another member than those of the other fields, and none within these")
            }
        }
        let labels = [heading.label] + fields.map(\.label)
        for (index, field) in fields.enumerated() {
            // A person could not tell the lines apart.
            // check: AuthorizedDetailsTests.labels
            guard labels.filter({ $0 == field.label }).count == 1 else {
                throw .invalid(
                    pointer: "\(members.pointer(to: "fields"))/\(index)/label",
                    expected: "another label than the first line's and those of the other fields")
            }
        }
        self.init(name: name, heading: heading, fields: fields)
    }

    fileprivate static let expectedLabel = "a line of at most 64 characters that may be shown, without \"=\""

    fileprivate static func label(_ json: JSONValue) -> DisplayLine? {
        json.string.flatMap { try? Detail(label: $0, value: "-").label }
    }
}

extension AuthorizationDetailType.Field {
    fileprivate init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        let depth = AuthorizationDetailType.maximumDepth
        let path = try members.required("path", "1 to \(depth) names of members, without that of the type") {
            json -> [String]? in
            let names = json.array?.compactMap(\.string) ?? []
            let isWhole = names.count == json.array?.count && (1...depth).contains(names.count)
            let areNames = names.allSatisfy { (1...100).contains($0.utf8.count) }
            let isType = names.first?.hasSameBytes(as: AuthorizationDetailType.typeMember) == true
            return isWhole && areNames && !isType ? names : nil
        }
        let label = try members.required(
            "label", AuthorizationDetailType.expectedLabel, AuthorizationDetailType.label)
        let isOptional = try members.optionalBool("optional") ?? false
        try members.refuseUnknown()
        self.init(path: path, label: label, isOptional: isOptional)
    }
}

extension JSONMembers {
    /// What the client may have people authorize in detail, which needs devices that show and sign it.
    mutating func detailTypes(
        by ways: Set<SignInWay>
    ) throws(JSONShapeError) -> [AuthorizationDetailType] {
        let types = try array("authorization_details_types").map { element throws(JSONShapeError) in
            try AuthorizationDetailType(element.value, at: element.pointer)
        }
        let place = pointer(to: "authorization_details_types")
        let isDistinct = Set(types.map(\.name)).count == types.count
        let isApart = Set(types.map(\.heading.label)).isDisjoint(with: types.flatMap(\.fields).map(\.label))
        // Nobody could tell which of two was meant, or where the next one begins.
        // check: AuthorizedDetailsTests.labels
        guard isDistinct, isApart, Set(types.map(\.heading)).count == types.count else {
            throw .invalid(
                pointer: place, expected: "different types, whose first lines differ, and have no label of a field")
        }
        guard types.count <= AuthorizationDetailType.maximumCount else {
            throw .invalid(pointer: place, expected: "at most \(AuthorizationDetailType.maximumCount) types")
        }
        guard types.isEmpty || ways.contains(where: \.isSigned) else {
            throw .invalid(pointer: place, expected: "nothing, where \"ways\" has neither \"device\" nor \"qr\"")
        }
        return types
    }
}
