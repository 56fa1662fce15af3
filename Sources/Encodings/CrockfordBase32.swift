/// Base 32 in Douglas Crockford's alphabet, lower case, for 128-bit values: 26 characters, the first at most `7`.
///
/// Canonical in both directions: upper case, the look-alikes (`i`, `l`, `o`) and hyphens are refused.
public enum CrockfordBase32 {
    private static let alphabet = [UInt8]("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// How many characters a value has.
    public static let length = 26

    /// 16 bytes as 26 characters, most significant first, so that texts sort as the bytes do.
    public static func encode(_ bytes: [UInt8]) -> String {
        precondition(bytes.count == 16)
        var text: [UInt8] = []
        text.reserveCapacity(length)
        var pending: UInt32 = 0
        // 26 characters hold 130 bits: the value stands behind two zero bits.
        var pendingBits = 2
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            pendingBits += 8
            while pendingBits >= 5 {
                pendingBits -= 5
                text.append(alphabet[Int(pending >> UInt32(pendingBits) & 31)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The 16 bytes of 26 characters, or nil.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: Array(text.utf8)[...])
    }

    /// The 16 bytes of 26 characters given as ASCII, or nil.
    public static func decode(utf8 text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count == length else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        var pending: UInt32 = 0
        var pendingBits = -2
        for index in text.indices {
            let digit = values[Int(text[index])]
            guard digit != 0xFF, index > text.startIndex || digit < 8 else { return nil }
            pending = pending << 5 | UInt32(digit)
            pendingBits += 5
            if pendingBits >= 8 {
                pendingBits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
            }
        }
        return bytes
    }
}
