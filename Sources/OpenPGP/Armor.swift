import Encodings

/// ASCII armor: binary objects as lines of text.
///
/// Spec: RFC 9580 §6.
public enum Armor {
    /// What an armored object is, as its first line says.
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

    /// The bytes armored, with the checksum older programs expect, ending in a newline.
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
    /// Headers are skipped; a checksum may be missing and must not be wrong; only blank lines may stand around the
    /// object.
    public static func decode(_ text: some StringProtocol, as kind: Kind) throws(OpenPGPError) -> [UInt8] {
        var lines = lines(of: Array(text.utf8))[...]
        while lines.first == [] { lines.removeFirst() }
        while lines.last == [] { lines.removeLast() }
        guard let opening = lines.popFirst(), opening.elementsEqual(kind.opening.utf8),
            let closing = lines.popLast(), closing.elementsEqual(kind.closing.utf8),
            let blank = lines.firstIndex(of: []),
            lines[..<blank].allSatisfy(isHeader)
        else { throw .malformedArmor }
        lines = lines[(blank + 1)...]
        var expected: ArraySlice<UInt8>?
        if let last = lines.last, last.count == 5, last.first == UInt8(ascii: "=") {
            expected = last.dropFirst()
            lines.removeLast()
        }
        guard !lines.isEmpty, lines.allSatisfy({ !$0.isEmpty && $0.count <= 76 }),
            let bytes = Base64.decode(utf8: lines.flatMap { $0 }[...])
        else { throw .malformedArmor }
        if let expected {
            guard let sum = Base64.decode(utf8: expected) else { throw .malformedArmor }
            guard sum.reduce(0, { $0 << 8 | UInt32($1) }) == checksum(bytes) else { throw .armorChecksum }
        }
        return bytes
    }

    private static func isHeader(_ line: [UInt8]) -> Bool {
        String(decoding: line, as: UTF8.self).utf8.firstRange(of: ": ".utf8) != nil
    }

    /// Lines split at LF, each without the CR that may end it.
    ///
    /// Bytes, not characters: CR LF is one `Character`.
    static func lines(of text: [UInt8]) -> [[UInt8]] {
        text.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            Array(line.last == 0x0D ? line.dropLast() : line)
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
