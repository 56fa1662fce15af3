/// The DER form of an RSA private key, from which its numbers can be read and made into a key.
///
/// Spec: RFC 8017 appendix A.1.2.
enum PKCS1 {
    /// How many numbers a key has: version, n, e, d, p, q, dp, dq and qi.
    private static let count = 9

    /// The DER of a key with these eight numbers.
    static func encode(_ numbers: [[UInt8]]) -> [UInt8] {
        let integers = ([[0]] + numbers).flatMap { number in
            // If the first bit were set, the number would be negative.
            element(0x02, (number.first ?? 0) & 0x80 == 0 ? number : [0] + number)
        }
        return element(0x30, integers)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    /// The eight numbers of a key in DER, or nil.
    static func decode(_ der: [UInt8]) -> [[UInt8]]? {
        var rest = der[...]
        guard var integers = take(0x30, from: &rest), rest.isEmpty else { return nil }
        var numbers: [[UInt8]] = []
        while !integers.isEmpty {
            guard let number = take(0x02, from: &integers) else { return nil }
            numbers.append(Array(number.drop { $0 == 0 }))
        }
        guard numbers.count == count, numbers.first == [] else { return nil }
        return Array(numbers.dropFirst())
    }

    private static func take(_ tag: UInt8, from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            // Three bytes of length are more than any key needs.
            let size = Int(first & 0x7F)
            guard (1...3).contains(size), bytes.count >= size else { return nil }
            length = bytes.prefix(size).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(size)
        }
        guard length <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(length) }
        return bytes.prefix(length)
    }
}
