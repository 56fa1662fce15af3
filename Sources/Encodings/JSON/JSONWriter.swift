extension JSONValue {
    /// The value as compact JSON in UTF-8; members keep their order, so equal values built alike give equal bytes.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, indent: nil)
        return bytes
    }

    /// The value as compact JSON, a string.
    public var text: String { String(decoding: encoded, as: UTF8.self) }

    /// The value as JSON for people: two blanks of indentation a level, no final newline.
    public var pretty: String {
        var bytes: [UInt8] = []
        write(to: &bytes, indent: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(to bytes: inout [UInt8], indent: Int?) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        case .double(let number): bytes.append(contentsOf: String(number).utf8)
        case .string(let text): Self.write(text, to: &bytes)
        case .array(let elements):
            Self.write(elements, between: "[", "]", to: &bytes, indent: indent) { element, bytes, indent in
                element.write(to: &bytes, indent: indent)
            }
        case .object(let object):
            Self.write(object.members, between: "{", "}", to: &bytes, indent: indent) { member, bytes, indent in
                Self.write(member.name, to: &bytes)
                bytes.append(contentsOf: (indent == nil ? ":" : ": ").utf8)
                member.value.write(to: &bytes, indent: indent)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], between opening: String, _ closing: String, to bytes: inout [UInt8], indent: Int?,
        element write: (Element, inout [UInt8], Int?) -> Void
    ) {
        bytes.append(contentsOf: opening.utf8)
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if let indent { breakLine(indent + 1, &bytes) }
            write(element, &bytes, indent.map { $0 + 1 })
        }
        if let indent, !elements.isEmpty { breakLine(indent, &bytes) }
        bytes.append(contentsOf: closing.utf8)
    }

    private static func breakLine(_ indent: Int, _ bytes: inout [UInt8]) {
        bytes.append(0x0A)
        bytes.append(contentsOf: repeatElement(0x20, count: indent * 2))
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            // The text between two escapes, usually the whole text, is copied in one piece.
            var start = 0
            for place in utf8.indices where needsEscape(utf8[place]) {
                bytes.append(contentsOf: utf8[start..<place])
                writeEscape(of: utf8[place], to: &bytes)
                start = place + 1
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func writeEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        default: bytes.append(contentsOf: "\\u00\(Hex.encode([byte]))".utf8)
        }
    }
}
