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

    /// 16 bytes as 26 characters, most significant first, so that texts sort in the order of the bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        precondition(bytes.count == 16)
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return encode(number(bytes[..<8]), number(bytes[8...]))
    }

    /// A number of 128 bits as 26 characters, after a prefix.
    ///
    /// It makes the whole text at once, without an intermediate one, because ids are written very often.
    ///
    /// - Parameters:
    ///   - high: the upper half.
    ///   - low: the lower half.
    ///   - prefix: the text before it.
    public static func encode(_ high: UInt64, _ low: UInt64, after prefix: String = "") -> String {
        var prefix = prefix
        return prefix.withUTF8 { prefix in
            String(unsafeUninitializedCapacity: prefix.count + length) { text in
                _ = text.initialize(fromContentsOf: prefix)
                for place in 0..<length {
                    // 26 characters hold 130 bits: the first character holds the uppermost three bits.
                    let shift = 125 - 5 * place
                    let bits = shift >= 64 ? high >> (shift - 64) : low >> shift | high << (64 - shift)
                    text.initializeElement(at: prefix.count + place, to: alphabet[Int(bits & 31)])
                }
                return prefix.count + length
            }
        }
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
