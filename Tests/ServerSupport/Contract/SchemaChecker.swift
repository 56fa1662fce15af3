package import Encodings
import Foundation
import Synchronization

/// Checks values against the part of JSON Schema 2020-12 that the OpenAPI document uses.
///
/// An unknown keyword is reported as a fault of the schema, so that no keyword is silently ignored.
package struct SchemaChecker: Sendable {
    private static let annotations: Set<String> = ["description", "format", "default", "examples"]
    private static let patterns = Mutex<[String: NSRegularExpression]>([:])

    private let components: [String: JSONValue]

    /// Creates a checker that resolves references to a document's components.
    package init(document: JSONValue) {
        var components: [String: JSONValue] = [:]
        for kind in document["components"]?.object?.members ?? [] {
            for member in kind.value.object?.members ?? [] {
                components["#/components/\(kind.name)/\(member.name)"] = member.value
            }
        }
        self.components = components
    }

    /// The value itself, or the target if it is a reference.
    package func resolved(_ value: JSONValue) -> JSONValue? {
        guard let reference = value["$ref"]?.string else { return value }
        return components[reference]
    }

    /// All differences between a value and a schema, each with its JSON pointer; empty if the value matches.
    package func faults(in value: JSONValue, by schema: JSONValue, at pointer: String = "") -> [String] {
        if let reference = schema["$ref"]?.string {
            guard let target = components[reference] else { return ["\(reference) leads nowhere"] }
            return faults(in: value, by: target, at: pointer)
        }
        guard let keywords = schema.object?.members else { return ["\(pointer): the schema is not an object"] }
        return keywords.flatMap { keyword in
            faults(in: value, by: keyword.name, keyword.value, of: schema, at: pointer)
        }
    }

    private func faults(
        in value: JSONValue, by keyword: String, _ argument: JSONValue, of schema: JSONValue, at pointer: String
    ) -> [String] {
        func fault(_ fits: Bool) -> [String] {
            fits ? [] : ["\(pointer): \(value.short) does not fit \(keyword) \(argument.short)"]
        }
        switch keyword {
        case "type":
            let types = argument.array ?? [argument]
            return fault(types.contains { $0.string.map { value.isOf(type: $0) } ?? false })
        case "const": return fault(value == argument)
        case "enum": return fault(argument.array?.contains(value) ?? false)
        case "oneOf":
            let fitting = (argument.array ?? []).filter { faults(in: value, by: $0, at: pointer).isEmpty }
            return fitting.count == 1 ? [] : ["\(pointer): \(value.short) fits \(fitting.count) of oneOf"]
        case "pattern", "minLength", "maxLength":
            guard let text = value.string else { return [] }
            return fault(text.fits(keyword, argument))
        case "minimum", "maximum":
            guard let number = value.integer, let bound = argument.integer else { return fault(value.integer == nil) }
            return fault(keyword == "minimum" ? number >= bound : number <= bound)
        case "items", "minItems", "maxItems", "uniqueItems":
            guard let elements = value.array else { return [] }
            if keyword == "items" {
                return elements.enumerated().flatMap { faults(in: $1, by: argument, at: "\(pointer)/\($0)") }
            }
            return fault(elements.fit(keyword, argument))
        case "required", "properties", "patternProperties", "additionalProperties", "maxProperties":
            guard let object = value.object else { return [] }
            return faults(in: object, by: keyword, argument, of: schema, at: pointer)
        case _ where Self.annotations.contains(keyword): return []
        default: return ["\(pointer): the keyword \(keyword) is not known to the checker"]
        }
    }

    private func faults(
        in object: JSONObject, by keyword: String, _ argument: JSONValue, of schema: JSONValue, at pointer: String
    ) -> [String] {
        switch keyword {
        case "required":
            let missing = (argument.array ?? []).compactMap(\.string).filter { object[$0] == nil }
            return missing.map { "\(pointer)/\($0) is missing" }
        case "properties":
            return (argument.object?.members ?? []).flatMap { property in
                object[property.name].map { faults(in: $0, by: property.value, at: "\(pointer)/\(property.name)") }
                    ?? []
            }
        case "patternProperties":
            return (argument.object?.members ?? []).flatMap { pattern in
                object.members.filter { Self.matches(pattern.name, $0.name) }.flatMap {
                    faults(in: $0.value, by: pattern.value, at: "\(pointer)/\($0.name)")
                }
            }
        case "maxProperties":
            let isFit = argument.integer.map { object.members.count <= $0 } ?? false
            return isFit ? [] : ["\(pointer): \(object.members.count) members are too many"]
        default:
            guard argument == false else { return ["\(pointer): additionalProperties can only be false"] }
            let patterns = schema["patternProperties"]?.object?.members ?? []
            let unknown = object.members.filter { member in
                schema["properties"]?[member.name] == nil && !patterns.contains { Self.matches($0.name, member.name) }
            }
            return unknown.map { "\(pointer)/\($0.name) is not in the contract" }
        }
    }

    fileprivate static func matches(_ pattern: String, _ text: String) -> Bool {
        let expression = patterns.withLock { patterns -> NSRegularExpression? in
            if let known = patterns[pattern] { return known }
            let new = try? NSRegularExpression(pattern: pattern)
            patterns[pattern] = new
            return new
        }
        return expression?.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }
}

extension JSONValue {
    /// The beginning of the value, for messages.
    fileprivate var short: String { String(String(decoding: encoded, as: UTF8.self).prefix(200)) }

    fileprivate func isOf(type: String) -> Bool {
        switch self {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .double: type == "number"
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }
}

extension String {
    /// Characters are counted as Unicode scalars, as JSON Schema does.
    fileprivate func fits(_ keyword: String, _ argument: JSONValue) -> Bool {
        switch keyword {
        case "pattern": argument.string.map { SchemaChecker.matches($0, self) } ?? false
        case "minLength": argument.integer.map { unicodeScalars.count >= $0 } ?? false
        default: argument.integer.map { unicodeScalars.count <= $0 } ?? false
        }
    }
}

extension [JSONValue] {
    fileprivate func fit(_ keyword: String, _ argument: JSONValue) -> Bool {
        switch keyword {
        case "minItems": argument.integer.map { count >= $0 } ?? false
        case "maxItems": argument.integer.map { count <= $0 } ?? false
        default: argument == false || Set(self).count == count
        }
    }
}
