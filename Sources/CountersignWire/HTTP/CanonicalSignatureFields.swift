import Encodings

/// The two fields of a signature in the form that this module and most others write: one member, no unnecessary blank,
/// numbers and strings in their one spelling.
///
/// Reading this form by hand takes a twentieth of the time. The parser for structured fields reads every other form,
/// malformed or not, so the result is always the same as without this type.
struct CanonicalSignatureFields {
    /// The names of the covered components, in order.
    let components: [String]
    /// The parameters; nil for those that are missing.
    private(set) var created: Int64?
    private(set) var texts: [Name: String] = [:]
    /// Everything after the label: the serialization that is signed.
    let serializedParameters: String
    /// The signature, in base 64.
    let signature: String

    /// The parameters that are strings.
    enum Name: String {
        case nonce
        case keyID = "keyid"
        case algorithm = "alg"
        case tag
    }

    /// Reads both fields, or nil when they do not have the form.
    init?(input: String, signature field: String) {
        var input = FieldReader(input)
        var signature = FieldReader(field)
        guard let label = input.key(), input.take("="), signature.key() == label, signature.take("="),
            signature.take(":"), let text = signature.run(where: FieldReader.isBase64), signature.take(":"),
            signature.isAtEnd
        else { return nil }
        self.signature = text
        serializedParameters = input.rest
        guard input.take("("), let first = input.string() else { return nil }
        var components = [first]
        while input.take(" ") {
            guard let next = input.string() else { return nil }
            components.append(next)
        }
        self.components = components
        guard input.take(")") else { return nil }
        while input.take(";") {
            guard let name = input.key(), input.take("=") else { return nil }
            // If a parameter occurs twice, the last one counts; this rare case is left to the parser.
            if name == "created" {
                guard created == nil, let number = input.integer() else { return nil }
                created = number
            } else {
                guard let name = Name(rawValue: name), texts[name] == nil, let text = input.string() else { return nil }
                texts[name] = text
            }
        }
        guard input.isAtEnd else { return nil }
    }
}

/// Reads a field byte by byte.
///
/// Spec: RFC 9651 §4.2.
private struct FieldReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    var isAtEnd: Bool { offset == bytes.count }
    var rest: String { String(decoding: bytes[offset...], as: UTF8.self) }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    /// One or more bytes of a kind.
    mutating func run(where isOfKind: (UInt8) -> Bool) -> String? {
        let start = offset
        while offset < bytes.count, isOfKind(bytes[offset]) { offset += 1 }
        return offset > start ? String(decoding: bytes[start..<offset], as: UTF8.self) : nil
    }

    /// A key that begins with a letter.
    ///
    /// Spec: RFC 9651 §3.1.2.
    mutating func key() -> String? {
        guard offset < bytes.count, bytes[offset].isLowercaseLetter else { return nil }
        return run { byte in
            byte.isLowercaseLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }

    /// A string without escapes, and not an empty one.
    mutating func string() -> String? {
        guard take("\"") else { return nil }
        let text = run { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        return take("\"") ? text : nil
    }

    /// A number of at most 15 digits that does not begin with a zero.
    ///
    /// Spec: RFC 9651 §3.3.1.
    mutating func integer() -> Int64? {
        guard offset < bytes.count, bytes[offset] != UInt8(ascii: "0"), let digits = run(where: \.isDigit),
            digits.utf8.count <= 15
        else { return nil }
        return Int64(digits)
    }

    static func isBase64(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }
}
