import CountersignWire
import Encodings

/// The parameters of an OAuth request, from a form or a query.
///
/// Unknown parameters are ignored, an empty value is as good as none, and a name stands once. Spec: RFC 6749 §3.1,
/// §3.2.
struct FormFields: Sendable {
    /// A parameter stands more than once, or the form is malformed.
    struct Malformed: Error {
        let description: String
    }

    private let fields: [String: String]

    /// Reads the form in a request's body.
    init(form incoming: Incoming) throws(Malformed) {
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
        let query = incoming.target.firstIndex(of: "?").map { incoming.target[incoming.target.index(after: $0)...] }
        try self.init(query ?? "")
    }

    private init(_ text: Substring) throws(Malformed) {
        var fields: [String: String] = [:]
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]), let value = pair.count == 2 ? Self.decoded(pair[1]) : "" else {
                throw Malformed(description: "the parameters are not form-urlencoded")
            }
            guard fields.updateValue(value, forKey: name) == nil else {
                throw Malformed(description: "a parameter stands more than once")
            }
        }
        self.fields = fields
    }

    /// A text after decoding, in which a plus sign is a blank.
    private static func decoded(_ text: Substring) -> String? {
        Incoming.decoded(text.replacing("+", with: " ")[...])
    }

    /// The value of a parameter; nil if it is absent or empty.
    subscript(name: String) -> String? {
        fields[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The parameters of these names, for a request that is sent on.
    func query(of names: [String]) -> String {
        fields.filter { names.contains($0.key) }.sorted { $0.key < $1.key }
            .map { "\(URIText.encoded($0.key))=\(URIText.encoded($0.value))" }.joined(separator: "&")
    }
}

/// Text in the query of a URI.
enum URIText {
    /// The text with everything percent-encoded but unreserved characters.
    ///
    /// Spec: RFC 3986 §2.3.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isUnreserved {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes += Hex.encodeUppercase([byte]).utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
