@testable import WebAuthn

extension CBORValue {
    /// The value as bytes; what was read in canonical form gives the bytes that were read.
    var encoded: [UInt8] {
        switch self {
        case .integer(let number) where number < 0: Self.head(1, UInt64(-1 - number))
        case .integer(let number): Self.head(0, UInt64(number))
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let elements): Self.head(4, UInt64(elements.count)) + elements.flatMap(\.encoded)
        case .map(let members):
            Self.head(5, UInt64(members.count)) + members.flatMap { $0.key.encoded + $0.value.encoded }
        case .bool(let flag): [flag ? 0xF5 : 0xF4]
        case .null: [0xF6]
        }
    }

    private static func head(_ kind: UInt8, _ number: UInt64) -> [UInt8] {
        let size: Int
        switch number {
        case 0..<24: return [kind << 5 | UInt8(number)]
        case 24...0xFF: size = 0
        case 0x100...0xFFFF: size = 1
        case 0x1_0000...0xFFFF_FFFF: size = 2
        default: size = 3
        }
        let bytes = (0..<1 << size).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) }
        return [kind << 5 | UInt8(24 + size)] + bytes
    }

    /// A map of these members in the order in which they are given.
    static func members(_ members: KeyValuePairs<CBORValue, CBORValue?>) -> CBORValue {
        .map(members.compactMap { key, value in value.map { CBORMember(key: key, value: $0) } })
    }
}

extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral number: Int64) { self = .integer(number) }
}
