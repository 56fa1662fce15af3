import Encodings
import Foundation

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

    /// The fields of a text in their order, in which a plus sign is a blank; nil if one cannot be decoded.
    ///
    /// A name without `=` has an empty value.
    package static func fields(in text: some StringProtocol) -> [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(pair[0]), let value = pair.count == 2 ? decoded(pair[1]) : "" else { return nil }
            fields.append((name, value))
        }
        return fields
    }

    private static func decoded(_ text: some StringProtocol) -> String? {
        String(text).replacing("+", with: " ").removingPercentEncoding
    }
}
