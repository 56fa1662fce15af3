import CountersignWire
import Encodings
import OpenPGP

extension JSONMembers {
    mutating func id<Kind>(_ name: String) throws(JSONShapeError) -> ID<Kind> {
        try required(name, "an id") { $0.string.flatMap { ID<Kind>($0) } }
    }

    mutating func optionalID<Kind>(_ name: String) throws(JSONShapeError) -> ID<Kind>? {
        try optional(name, "an id") { $0.string.flatMap { ID<Kind>($0) } }
    }

    mutating func time(_ name: String) throws(JSONShapeError) -> Timestamp {
        try required(name, "a time") { $0.string.flatMap { Timestamp($0) } }
    }

    mutating func optionalTime(_ name: String) throws(JSONShapeError) -> Timestamp? {
        try optional(name, "a time") { $0.string.flatMap { Timestamp($0) } }
    }

    mutating func bool(_ name: String) throws(JSONShapeError) -> Bool {
        try required(name, "true or false") { $0.bool }
    }

    mutating func fingerprint() throws(JSONShapeError) -> Fingerprint {
        try required("fingerprint", "40 hexadecimal digits") { $0.string.flatMap { Fingerprint($0[...]) } }
    }

    /// Strings of an array that must be there.
    mutating func requiredStrings(_ name: String) throws(JSONShapeError) -> [String] {
        try required(name, "an array of strings") { $0.each { $0 } }
    }
}

extension JSONValue {
    /// The text of a value, or nothing for none.
    static func text(_ value: (some CustomStringConvertible)?) -> JSONValue? { value.map { .string("\($0)") } }

    static func texts(_ values: [some CustomStringConvertible]) -> JSONValue { .array(values.map { .string("\($0)") }) }

    static func texts(byName texts: [(String, String)]) -> JSONValue {
        var object = JSONObject()
        for (name, text) in texts { object[name] = .string(text) }
        return .object(object)
    }
}
