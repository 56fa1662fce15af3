/// A telephone number in international form: `+` and 7 to 15 digits, the first of them not 0.
///
/// Spec: ITU-T E.164 §6.2.
public struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    /// The number, with its `+`.
    public let description: String

    /// Reads a number without blanks or signs between the digits, or nil.
    public init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "+"), (7...15).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            digits.first != UInt8(ascii: "0")
        else { return nil }
        description = text
    }
}
