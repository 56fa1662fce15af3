/// Text in an HTML page.
public enum HTMLText {
    /// A text in which every character is escaped that could end a text node or an attribute's value.
    ///
    /// It works on bytes. In Swift, a quotation mark followed by a combining mark or a variation selector is one
    /// `Character` that equals no quotation mark; a browser still sees the quotation mark.
    ///
    /// Spec: HTML, *Serializing HTML fragments*.
    public static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
