/// Base 16.
///
/// Spec: RFC 4648 §8, with lower case digits on output.
public enum Hex {
    private static let lower = [UInt8]("0123456789abcdef".utf8)
    private static let upperCase = UInt8(ascii: "A")...UInt8(ascii: "F")
    private static let upper = [UInt8]("0123456789ABCDEF".utf8)

    /// The bytes as lower case hexadecimal digits, two each.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: digits(Array(bytes), lower), as: UTF8.self)
    }

    /// The bytes as upper case hexadecimal digits, two each: the format of fingerprints.
    public static func encodeUppercase(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: digits(Array(bytes), upper), as: UTF8.self)
    }

    /// The bytes of a text of lower case hexadecimal digits; nil for an odd number of digits, or any other character.
    ///
    /// Each sequence of bytes has exactly one text, which ``encode(_:)`` writes.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        return digits.contains(where: upperCase.contains) ? nil : bytes(of: digits)
    }

    /// The bytes of hexadecimal digits in upper or lower case, as a person or a program typed them, or nil.
    ///
    /// Several texts give the same bytes, so do not compare or hash the text afterwards.
    public static func decodeIgnoringCase(_ text: some StringProtocol) -> [UInt8]? {
        bytes(of: Array(text.utf8))
    }

    private static func bytes(of digits: [UInt8]) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(of: digits[place]), let low = value(of: digits[place + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digits(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(alphabet[Int(byte >> 4)])
            text.append(alphabet[Int(byte & 15)])
        }
        return text
    }

    /// The value of one digit in upper or lower case; nil for another character.
    public static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
