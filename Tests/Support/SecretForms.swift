import Encodings
import Foundation

/// Every common form of a secret in a log line or a reply.
package struct SecretForms: Sendable {
    /// The minimum size of a form, in bytes; shorter ones are found by chance.
    static let minimumSize = 10

    /// The name of the secret, for a failing test.
    package let name: String
    /// The forms as bytes.
    let forms: Set<[UInt8]>

    /// The forms of bytes: the bytes themselves, base16, both base64 alphabets at any offset in a longer text, these
    /// percent-encoded, and Swift's description of the array.
    package init(_ name: String, bytes: [UInt8]) {
        self.name = name
        var forms: Set<[UInt8]> = [bytes]
        var texts = [
            Hex.encode(bytes), Hex.encodeUppercase(bytes), bytes.map { "\($0)" }.joined(separator: ", "),
        ]
        for offset in 0..<3 {
            let text = Self.innerBase64(of: bytes, offset: offset)
            let urlText = text.replacing("+", with: "-").replacing("/", with: "_")
            texts += [text, urlText, text.replacing("/", with: "\\/")]
            texts += Self.percentEncoded(text)
        }
        forms.formUnion(texts.map { Array($0.utf8) })
        self.forms = forms.filter { $0.count >= Self.minimumSize }
    }

    /// The forms of a text: those of its bytes, percent-encoded, and with the escapes of JSON and of Swift. If the text
    /// encodes bytes, the forms of those bytes are included.
    package init(_ name: String, text: String) {
        var forms = SecretForms(name, bytes: Array(text.utf8)).forms
        let escaped = JSONValue.string(text).encoded.dropFirst().dropLast()
        let texts = Self.percentEncoded(text) + [text.debugDescription.dropFirst().dropLast().description]
        forms.formUnion(texts.map { Array($0.utf8) } + [Array(escaped)])
        // A token consists of a prefix, an underscore and the text of its bytes.
        for part in [text[...], text.split(separator: "_", maxSplits: 1).last ?? text[...]] {
            for bytes in [Base64.decode(part), Base64URL.decode(part), Hex.decodeIgnoringCase(part)] {
                guard let bytes, bytes.count >= 16 else { continue }
                forms.formUnion(SecretForms(name, bytes: bytes).forms)
            }
        }
        self.name = name
        self.forms = forms.filter { $0.count >= Self.minimumSize }
    }

    /// Combines several secrets that reveal the same thing under one name.
    package init(_ name: String, allOf parts: [SecretForms]) {
        self.name = name
        forms = parts.reduce(into: []) { $0.formUnion($1.forms) }
    }

    /// Only the text itself, in no other form.
    package init(_ name: String, verbatim text: String) {
        self.name = name
        forms = text.utf8.count < Self.minimumSize ? [] : [Array(text.utf8)]
    }

    /// The base64 characters that depend only on the bytes, if they follow this many other bytes.
    private static func innerBase64(of bytes: [UInt8], offset: Int) -> String {
        let text = Base64.encode([UInt8](repeating: 0, count: offset) + bytes)
        let (first, end) = ((offset * 8 + 5) / 6, (offset + bytes.count) * 8 / 6)
        guard first < end else { return "" }
        return String(text.dropFirst(first).prefix(end - first))
    }

    private static func percentEncoded(_ text: String) -> [String] {
        let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
        let encoded = text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        let lowercased = encoded.split(separator: "%", omittingEmptySubsequences: false).enumerated().map {
            index, part in
            index == 0 ? String(part) : part.prefix(2).lowercased() + part.dropFirst(2)
        }
        let every = text.utf8.map { "%" + Hex.encodeUppercase([$0]) }.joined()
        return [encoded, lowercased.joined(separator: "%"), every, every.lowercased()]
    }
}
