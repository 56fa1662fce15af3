package import CountersignWire
package import Encodings

/// A challenge type as it is shown: `ChallengeType` of the contract.
package struct TypeView: Sendable {
    private static let always = [
        "methods", "qr", "text_code", "expires_in", "number_entry", "signing_data", "assurance", "aal2", "max_pending",
        "max_asks", "denial_pause", "max_resends", "texts",
    ]

    /// The type.
    package let type: ChallengeType

    /// The view as JSON.
    package var json: JSONValue { type.json }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws {
        var members = try JSONMembers(json)
        let name = try members.required("name", "the name of a type") { $0.string.flatMap { TypeName($0) } }
        for member in Self.always where members.value(member) == nil {
            throw JSONShapeError.missing(pointer: members.pointer(to: member))
        }
        type = try TypeRequest(json, named: name, isStored: true, ignoringUnknown: true).type(named: name)
    }
}

/// A type that a user could be asked by now: an element of `AvailableTypes` of the contract.
package struct AvailableTypeView: Sendable {
    /// The type.
    package var type: TypeName
    /// The methods that would work.
    package var methods: [String]

    /// A view of these parts.
    package init(type: TypeName, methods: [String]) {
        self.type = type
        self.methods = methods
    }

    /// The view as JSON.
    package var json: JSONValue { ["type": .string("\(type)"), "methods": .texts(methods)] }

    /// Reads a view that stands at a JSON pointer; members nobody knows are ignored.
    package init(_ json: JSONValue, at pointer: String = "") throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        type = try members.required("type", "the name of a type") { $0.string.flatMap { TypeName($0) } }
        methods = try members.requiredStrings("methods")
    }
}
