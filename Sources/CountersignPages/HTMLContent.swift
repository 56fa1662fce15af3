import Encodings
import Mustache

/// The escaping of values in our pages.
///
/// Mustache's own escaping compares whole characters: a quotation mark under a combining mark or a variation selector
/// is another `Character`, stays as it is, and ends an attribute's value in a browser. This one works on bytes.
///
/// Spec: HTML, *Serializing HTML fragments*.
struct HTMLContent: MustacheContentType {
    /// The line that begins each template, so that this escaping is in force from there on.
    ///
    /// A partial would fall back to Mustache's own escaping, so our templates have none.
    static let pragma: String = {
        MustacheContentTypes.register(HTMLContent(), named: "PAGES")
        return "{{% CONTENT_TYPE:PAGES}}"
    }()

    /// What stands in the place of a control character, which a page may not contain.
    private static let replacement = Array("\u{FFFD}".utf8)

    /// A text that is safe between tags and in a quoted attribute.
    func escapeText(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in HTMLText.escaped(text).utf8 {
            switch byte {
            case UInt8(ascii: "`"): bytes += "&#96;".utf8
            case UInt8(ascii: "\t"), UInt8(ascii: "\n"): bytes.append(byte)
            case ..<0x20, 0x7F: bytes += Self.replacement
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
