/// Why a well-formed JSON value does not have the expected form.
///
/// The pointers name the place. Spec: RFC 6901.
public enum JSONShapeError: Error, Equatable, Sendable {
    /// A required member is missing.
    case missing(pointer: String)
    /// A value has the wrong kind or is out of range; `expected` says what is allowed.
    case invalid(pointer: String, expected: String)
    /// A member is not known.
    case unknownMember(pointer: String)
}

/// Reads the members of a JSON object one by one and remembers which were read, so that ``refuseUnknown()`` can name
/// the others.
///
/// Every error carries the pointer of its value.
public struct JSONMembers {
    /// The JSON pointer of the object itself.
    public let pointer: String
    private let object: JSONObject
    private var known: [String] = []

    /// Starts reading an object.
    ///
    /// - Parameters:
    ///   - value: the value, which must be an object.
    ///   - pointer: the object's place in the whole document, `""` for the document itself.
    public init(_ value: JSONValue, at pointer: String = "") throws(JSONShapeError) {
        guard let object = value.object else { throw .invalid(pointer: pointer, expected: "an object") }
        self.object = object
        self.pointer = pointer
    }

    /// The pointer of a member.
    public func pointer(to name: String) -> String {
        let escaped = name.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "~"): Array("~0".utf8)
            case UInt8(ascii: "/"): Array("~1".utf8)
            default: [byte]
            }
        }
        return "\(pointer)/\(String(decoding: escaped, as: UTF8.self))"
    }

    /// The member's value, or nil when it is absent or `null`.
    public mutating func value(_ name: String) -> JSONValue? {
        known.append(name)
        guard let value = object[name], value != .null else { return nil }
        return value
    }

    /// The result of `read` for the member's value, or nil when the member is absent; `expected` completes "must be …".
    public mutating func optional<Value>(
        _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) throws(JSONShapeError) -> Value? {
        guard let value = value(name) else { return nil }
        guard let result = read(value) else { throw .invalid(pointer: pointer(to: name), expected: expected) }
        return result
    }

    /// The result of `read` for the value of a required member; `expected` completes "must be …".
    public mutating func required<Value>(
        _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) throws(JSONShapeError) -> Value {
        guard let result = try optional(name, expected, read) else { throw .missing(pointer: pointer(to: name)) }
        return result
    }

    /// A required string.
    public mutating func string(_ name: String) throws(JSONShapeError) -> String {
        try required(name, "a string") { $0.string }
    }

    /// A string, or nil when absent.
    public mutating func optionalString(_ name: String) throws(JSONShapeError) -> String? {
        try optional(name, "a string") { $0.string }
    }

    /// A whole number within bounds, or nil when absent.
    public mutating func optionalInteger(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(JSONShapeError) -> Int64? {
        try optional(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A required whole number within bounds.
    public mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(JSONShapeError) -> Int64 {
        guard let number = try optionalInteger(name, in: range) else { throw .missing(pointer: pointer(to: name)) }
        return number
    }

    /// `true` or `false`, or nil when absent.
    public mutating func optionalBool(_ name: String) throws(JSONShapeError) -> Bool? {
        try optional(name, "true or false") { $0.bool }
    }

    /// The elements of an array with their pointers; empty when the member is absent.
    public mutating func array(_ name: String) throws(JSONShapeError) -> [(value: JSONValue, pointer: String)] {
        let elements = try optional(name, "an array") { $0.array } ?? []
        let base = pointer(to: name)
        return elements.enumerated().map { ($1, "\(base)/\($0)") }
    }

    /// The strings of an array; empty when the member is absent.
    public mutating func strings(_ name: String) throws(JSONShapeError) -> [String] {
        var texts: [String] = []
        for element in try array(name) {
            guard let text = element.value.string else {
                throw .invalid(pointer: element.pointer, expected: "a string")
            }
            texts.append(text)
        }
        return texts
    }

    /// Throws ``JSONShapeError/unknownMember(pointer:)`` for the first member that was not read.
    public func refuseUnknown() throws(JSONShapeError) {
        for member in object.members where !known.contains(where: { $0.hasSameBytes(as: member.name) }) {
            throw .unknownMember(pointer: pointer(to: member.name))
        }
    }
}
