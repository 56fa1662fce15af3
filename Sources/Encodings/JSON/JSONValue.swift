/// A JSON value.
///
/// Spec: RFC 8259.
public enum JSONValue: Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object; its members keep their order.
    case object(JSONObject)
}

/// The members of a JSON object, in order, each name once.
public struct JSONObject: Sendable {
    /// Names and values in the order they were read or added.
    public private(set) var members: [(name: String, value: JSONValue)] = []

    /// An empty object.
    public init() {}

    /// An object of these members.
    ///
    /// Later members of an equal name replace earlier ones.
    public init(_ members: KeyValuePairs<String, JSONValue?>) {
        for (name, value) in members { self[name] = value }
    }

    /// The value of a member, compared by the bytes of its name; setting nil removes it.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name.hasSameBytes(as: name) }?.value }
        set {
            if let index = members.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
                if let newValue { members[index].value = newValue } else { members.remove(at: index) }
            } else if let newValue {
                members.append((name, newValue))
            }
        }
    }

    /// Adds a member whose name is known to be new.
    mutating func append(_ name: String, _ value: JSONValue) {
        members.append((name, value))
    }
}

extension JSONValue {
    /// An object of these members; members whose value is nil are left out.
    public static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(JSONObject(members))
    }

    /// The members of an object, or nil for any other value.
    public var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The elements of an array, or nil for any other value.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text of a string, or nil for any other value.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of an integer, or nil for any other value.
    public var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The value of `true` and `false`, or nil for any other value.
    public var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// A member of an object, or nil.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// An element of an array; nil if there is none.
    public subscript(index: Int) -> JSONValue? {
        guard let elements = array, elements.indices.contains(index) else { return nil }
        return elements[index]
    }
}

extension JSONValue: Hashable {
    /// Compares strings and names by their bytes, and objects without regard to the order of their members.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSONValue {
    /// Hashes the parts that equality compares, independently of the order of an object's members.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let flag): hasher.combine(flag)
        case .integer(let number): hasher.combine(number)
        case .double(let number): hasher.combine(number)
        case .string(let text): text.utf8.forEach { hasher.combine($0) }
        case .array(let elements): hasher.combine(elements)
        case .object(let object): hasher.combine(object)
        }
    }
}

extension JSONObject: Hashable {
    /// Compares the members without regard to their order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }

    /// Hashes the number of members, which does not depend on their order.
    public func hash(into hasher: inout Hasher) { hasher.combine(members.count) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral text: String) { self = .string(text) }
    /// An integer.
    public init(integerLiteral number: Int64) { self = .integer(number) }
    /// `true` or `false`.
    public init(booleanLiteral flag: Bool) { self = .bool(flag) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object of these members.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        self = .object(object)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object of these members.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self.init()
        for (name, value) in members { self[name] = value }
    }
}
