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
        guard !text.utf8.contains(where: upperCase.contains) else { return nil }
        return decodeIgnoringCase(text)
    }

    /// The bytes of hexadecimal digits in upper or lower case, as a person or a program typed them, or nil.
    ///
    /// Several texts give the same bytes, so do not compare or hash the text afterwards.
    public static func decodeIgnoringCase(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
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
