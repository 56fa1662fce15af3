import Encodings

/// Forms and queries as text: `name=value`, joined by `&`.
///
/// Spec: RFC 6749 Appendix B.
package enum FormText {
    /// The fields with everything percent-encoded but unreserved characters.
    package static func encoded(_ fields: [(String, String)]) -> String {
        fields.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
    }

    /// A text with everything percent-encoded but unreserved characters.
    ///
    /// Spec: RFC 3986 §2.3.
    package static func encoded(_ text: String) -> String {
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

    /// The fields of a text in their order; nil if one cannot be decoded.
    ///
    /// A name without `=` has an empty value. The text is read by octets: an `&` before a combining mark separates too.
    ///
    /// - Parameters:
    ///   - text: the form or query.
    ///   - plus: what a plus sign stands for: a blank in a form, itself in the query of a URI otherwise.
    package static func fields(
        in text: some StringProtocol, plus: UInt8 = UInt8(ascii: " ")
    ) -> [(name: String, value: String)]? {
        var text = String(text)
        return text.withUTF8 { fields(in: $0, plus: plus) }
    }

    private static func fields(
        in text: UnsafeBufferPointer<UInt8>, plus: UInt8
    ) -> [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        for part in text.split(separator: UInt8(ascii: "&")) {
            let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = decoded(part[..<end], plus: plus),
                let value = decoded(part[end...].dropFirst(), plus: plus)
            else { return nil }
            fields.append((name, value))
        }
        return fields
    }

    /// A text whose escapes are replaced; nil if one is malformed, or the result is not UTF-8.
    private static func decoded(_ text: Slice<UnsafeBufferPointer<UInt8>>, plus: UInt8) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(plus)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(strictUTF8: bytes)
    }
}
