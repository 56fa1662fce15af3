/// The code that a device shows, and that its person types on a page of ours: 8 letters, of which none is a vowel and
/// none looks like another.
///
/// Spec: RFC 8628 §6.1.
package struct UserCode: Hashable, Sendable, CustomStringConvertible {
    /// How many letters it has: about 2^34.6 codes.
    package static let length = 8

    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    /// The longest text that is read.
    private static let longestText = 64

    private let text: String

    /// A new code.
    init(from random: any RandomSource) {
        let bytes = (0..<Self.length).map { _ in Self.letters[Int(random.number(below: UInt32(Self.letters.count)))] }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// Reads what somebody has typed: the case of letters and what separates them do not count.
    ///
    /// - Returns: nil if it is no code.
    package init?(typed: String) {
        // check: DeviceCodeTests.letters
        guard typed.utf8.count <= Self.longestText else { return nil }
        var bytes: [UInt8] = []
        for byte in typed.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): bytes.append(byte - 32)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
            default: continue
            }
        }
        // check: DeviceCodeTests.letters
        guard bytes.count == Self.length, bytes.allSatisfy(Self.letters.contains) else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// As it is shown: `WDJB-MJHT`.
    package var description: String { "\(text.prefix(Self.length / 2))-\(text.suffix(Self.length / 2))" }
}
