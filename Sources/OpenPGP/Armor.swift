import Encodings

/// ASCII armor: binary objects as lines of text.
///
/// Spec: RFC 9580 §6.
public enum Armor {
    /// The kind of an armored object, which its first line names.
    public enum Kind: String, Sendable, CaseIterable {
        /// A signed or encrypted message.
        case message = "PGP MESSAGE"
        /// A certificate.
        case publicKey = "PGP PUBLIC KEY BLOCK"
        /// A certificate with its secret keys.
        case privateKey = "PGP PRIVATE KEY BLOCK"
        /// A detached signature.
        case signature = "PGP SIGNATURE"

        var opening: String { "-----BEGIN \(rawValue)-----" }
        var closing: String { "-----END \(rawValue)-----" }
    }

    private static let lineLength = 64

    /// The bytes in armor, with the checksum that older programs expect, ending in a newline.
    public static func encode(_ bytes: [UInt8], as kind: Kind) -> String {
        var lines = [kind.opening, ""]
        var text = Base64.encode(bytes)[...]
        while !text.isEmpty {
            lines.append(String(text.prefix(lineLength)))
            text = text.dropFirst(lineLength)
        }
        let sum = checksum(bytes)
        lines.append("=" + Base64.encode([UInt8(sum >> 16), UInt8(sum >> 8 & 0xFF), UInt8(sum & 0xFF)]))
        lines.append(kind.closing)
        return lines.joined(separator: "\n") + "\n"
    }

    /// The bytes of an armored object.
    ///
    /// Headers are skipped. A checksum may be missing but must not be wrong. Only blank lines may surround the object.
    public static func decode(_ text: some StringProtocol, as kind: Kind) throws(OpenPGPError) -> [UInt8] {
        try decode(utf8: Array(text.utf8)[...], as: kind)
    }

    /// The bytes of an armored object given as UTF-8.
    static func decode(utf8 text: ArraySlice<UInt8>, as kind: Kind) throws(OpenPGPError) -> [UInt8] {
        var lines = Lines(text)
        var opening = lines.next()
        while opening?.isEmpty == true { opening = lines.next() }
        guard opening?.elementsEqual(kind.opening.utf8) == true else { throw .malformedArmor }
        while let header = lines.next(), !header.isEmpty {
            guard isHeader(header) else { throw .malformedArmor }
        }
        var encoded: [UInt8] = []
        var expected: ArraySlice<UInt8>?
        var isClosed = false
        while !isClosed, let line = lines.next() {
            if line.elementsEqual(kind.closing.utf8) {
                isClosed = true
            } else if line.count == 5, line.first == UInt8(ascii: "="), expected == nil {
                expected = line.dropFirst()
            } else {
                guard !line.isEmpty, line.count <= 76, expected == nil else { throw .malformedArmor }
                encoded += line
            }
        }
        guard isClosed, lines.allSatisfy(\.isEmpty), !encoded.isEmpty,
            let bytes = Base64.decode(utf8: encoded[...])
        else { throw .malformedArmor }
        if let expected {
            guard let sum = Base64.decode(utf8: expected) else { throw .malformedArmor }
            guard sum.reduce(0, { $0 << 8 | UInt32($1) }) == checksum(bytes) else { throw .armorChecksum }
        }
        return bytes
    }

    private static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
        zip(line, line.dropFirst()).contains { $0 == (UInt8(ascii: ":"), 0x20) }
    }

    /// Lines separated by LF, each without the CR that may end it.
    ///
    /// The lines are read one at a time: for a text of empty lines, a list would be a hundred times as large as the
    /// text. The type works on bytes, because CR LF is one `Character`.
    struct Lines: Sequence, IteratorProtocol {
        /// The bytes after the lines that were read; nil after the last line.
        private(set) var rest: ArraySlice<UInt8>?

        init(_ text: ArraySlice<UInt8>) {
            rest = text
        }

        mutating func next() -> ArraySlice<UInt8>? {
            guard let text = rest else { return nil }
            let end = text.firstIndex(of: 0x0A)
            rest = end.map { text[($0 + 1)...] }
            let line = text[..<(end ?? text.endIndex)]
            return line.last == 0x0D ? line.dropLast() : line
        }
    }

    /// CRC-24.
    ///
    /// Spec: RFC 9580 §6.1.1.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xB704CE
        for byte in bytes {
            crc ^= UInt32(byte) << 16
            for _ in 0..<8 {
                crc <<= 1
                if crc & 0x1000000 != 0 { crc ^= 0x1864CFB }
            }
        }
        return crc & 0xFFFFFF
    }
}
