import CountersignWire
import Encodings

/// The parameters of an OAuth request, from a form or a query.
///
/// Unknown parameters are ignored, an empty value is as good as none, and a name stands once, but `resource`, which may
/// stand more often. Spec: RFC 6749 §3.1, §3.2; RFC 8707 §2.
struct FormFields: Sendable {
    /// A parameter stands more than once, or the form is malformed.
    struct Malformed: Error {
        let description: String
    }

    /// The one parameter that may stand more than once.
    ///
    /// Spec: RFC 8707 §2.
    static let repeatable = "resource"

    /// Its values.
    let resources: [String]

    private var fields: [String: String]

    /// Reads the form in a request's body.
    init(form incoming: Incoming) throws(Malformed) {
        // check: DeviceRequestTests.forms
        guard incoming.hasContent("application/x-www-form-urlencoded") else {
            throw Malformed(description: "the body must be application/x-www-form-urlencoded")
        }
        guard let text = String(strictUTF8: incoming.body) else {
            throw Malformed(description: "the body is not UTF-8")
        }
        try self.init(text[...])
    }

    /// Reads the query of a request.
    init(query incoming: Incoming) throws(Malformed) {
        try self.init(Incoming.queryText(of: incoming.target))
    }

    /// Reads parameters that are form-encoded.
    init(_ text: Substring) throws(Malformed) {
        guard let list = FormText.fields(in: text) else {
            throw Malformed(description: "the parameters are not form-urlencoded")
        }
        var fields: [String: String] = [:]
        for (name, value) in list where name != Self.repeatable && fields.updateValue(value, forKey: name) != nil {
            throw Malformed(description: "a parameter stands more than once")
        }
        self.fields = fields
        resources = list.filter { $0.0 == Self.repeatable && !$0.1.isEmpty }.map(\.1)
    }

    /// The value of a parameter; nil if it is absent or empty.
    subscript(name: String) -> String? {
        fields[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reads the parameters of a request object, where a parameter that is JSON or a number need be no text.
    ///
    /// Spec: RFC 9101 §4.
    ///
    /// - Parameters:
    ///   - claims: what the request object says; other claims than parameters are ignored.
    ///   - names: the names of the parameters.
    init(requestObject claims: JSONValue, named names: [String]) throws(Malformed) {
        var list: [(String, String)] = []
        for name in names {
            guard let claim = claims[name] else { continue }
            let values = name == Self.repeatable ? claim.array ?? [claim] : [claim]
            for value in values {
                switch value {
                case .string(let text): list.append((name, text))
                case .integer(let number): list.append((name, "\(number)"))
                case .object: list.append((name, String(decoding: value.encoded, as: UTF8.self)))
                // Spec: RFC 9396 §3.
                case .array where name == AuthorizationDetails.parameter:
                    list.append((name, String(decoding: value.encoded, as: UTF8.self)))
                case .null, .bool, .double, .array: throw Malformed(description: "\(name) has a value of another kind")
                }
            }
        }
        try self.init(FormText.encoded(list)[...])
    }

    /// The same with another value of a parameter.
    func setting(_ name: String, to value: String) -> FormFields {
        var changed = self
        changed.fields[name] = value
        return changed
    }

    /// The words of a parameter that lists some, separated by blanks; nil if it is absent or empty.
    func words(_ name: String) -> [String]? { self[name]?.split(separator: " ").map(String.init) }

    /// The parameters of these names, for a request that is sent on.
    func query(of names: [String]) -> String {
        let kept = fields.filter { names.contains($0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return FormText.encoded(kept + (names.contains(Self.repeatable) ? resources.map { (Self.repeatable, $0) } : []))
    }
}
