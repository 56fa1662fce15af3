/// Text inside a page.
public enum HTMLText {
    /// A text with everything escaped that could end a text or an attribute's value.
    ///
    /// It goes by bytes: a quotation mark followed by a combining mark or a variation selector is one `Character` in
    /// Swift, equal to no quotation mark, and to a browser it is one.
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
