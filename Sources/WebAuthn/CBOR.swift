import Encodings

/// A CBOR value of a kind that authenticators send.
///
/// It has no tags and no floating-point numbers. Spec: RFC 8949 §3.1.
package enum CBORValue: Sendable {
    /// An integer that fits 64 bits.
    case integer(Int64)
    /// A byte string.
    case bytes([UInt8])
    /// A text.
    case text(String)
    /// An array.
    case array([CBORValue])
    /// A map; its keys are integers and texts, in canonical order.
    case map([CBORMember])
    /// `true` or `false`
    case bool(Bool)
    /// `null`
    case null
}

/// A key of a CBOR map with its value.
package struct CBORMember: Sendable {
    /// The key: an integer or a text.
    package let key: CBORValue
    /// The value.
    package let value: CBORValue
}

extension CBORValue {
    /// The value of an integer, or nil for any other value.
    package var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The bytes of a byte string, or nil for any other value.
    package var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The text, or nil for any other value.
    package var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The members of a map, or nil for any other value.
    package var members: [CBORMember]? {
        if case .map(let members) = self { members } else { nil }
    }

    /// The value of a map's member that is named by a text, compared by its bytes.
    package subscript(name: String) -> CBORValue? {
        members?.first { $0.key.text?.hasSameBytes(as: name) == true }?.value
    }

    /// The value of a map's member that is named by a number.
    package subscript(label: Int64) -> CBORValue? {
        members?.first { $0.key.integer == label }?.value
    }
}

/// Why the reader refuses CBOR.
package enum CBORError: Error, Equatable, Sendable {
    /// The bytes end within a value.
    case endsEarly
    /// Something follows the value.
    case trailingData
    /// There are more bytes than ``CBORReader/maximumSize``.
    case tooLarge
    /// More than ``CBORReader/maximumDepth`` maps and arrays are nested.
    case tooDeep
    /// A length is not said before the content.
    case indefiniteLength
    /// A number or a length takes more bytes than it needs.
    case notShortest
    /// The keys of a map are not in canonical order.
    case keyOrder
    /// A map has a key twice.
    case duplicateKey
    /// A key is neither an integer nor a text.
    case keyType
    /// A text is not well-formed UTF-8.
    case invalidUTF8
    /// An integer does not fit 64 bits with a sign.
    case integerOutOfRange
    /// A tag, a floating-point number or another simple value.
    case unsupported
    /// A first byte that has no meaning.
    case reserved
}

extension CBORValue {
    /// Reads one value in canonical form, with nothing after it.
    package init(parsing bytes: [UInt8]) throws(CBORError) {
        var reader = try CBORReader(bytes)
        self = try reader.value()
        // check: CBORTests.trailing
        guard reader.offset == bytes.count else { throw .trailingData }
    }
}

/// Reads CBOR in the canonical form of CTAP2, in which each value has only one spelling.
///
/// What is read therefore encodes to the same bytes. Memory stays within a small multiple of the input, since every
/// element takes a byte of it. Spec: CTAP 2.2 §8, WebAuthn Level 3 §2.4.
package struct CBORReader {
    /// The most bytes that are read.
    package static let maximumSize = 64 * 1024
    /// How deep maps and arrays may be nested.
    ///
    /// Spec: CTAP 2.2 §8.
    package static let maximumDepth = 4

    private let bytes: [UInt8]
    /// Where the next value begins.
    package private(set) var offset: Int

    /// Starts reading at a place, which is the first unless it is given.
    package init(_ bytes: [UInt8], from offset: Int = 0) throws(CBORError) {
        // check: CBORTests.size
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        self.bytes = bytes
        self.offset = offset
    }

    /// Reads the next value, and leaves what follows it.
    package mutating func value() throws(CBORError) -> CBORValue { try value(depth: 0) }

    private mutating func value(depth: Int) throws(CBORError) -> CBORValue {
        guard let first = bytes.dropFirst(offset).first else { throw .endsEarly }
        offset += 1
        let kind = first >> 5
        if kind == 7 { return try simple(first & 0x1F) }
        let number = try number(first & 0x1F, ofString: (2...5).contains(kind))
        switch kind {
        case 0: return .integer(try signed(number))
        case 1: return .integer(-1 - (try signed(number)))
        case 2: return .bytes(Array(try content(number)))
        case 3:
            guard let text = String(strictUTF8: try content(number)) else { throw .invalidUTF8 }
            return .text(text)
        case 4: return .array(try elements(number, depth: depth + 1))
        case 5: return .map(try members(number, depth: depth + 1))
        default: throw .unsupported
        }
    }

    private func simple(_ value: UInt8) throws(CBORError) -> CBORValue {
        switch value {
        case 20: .bool(false)
        case 21: .bool(true)
        case 22: .null
        case 28...31: throw .reserved
        default: throw .unsupported
        }
    }

    /// The number that follows a first byte, or stands in it.
    private mutating func number(_ short: UInt8, ofString isString: Bool) throws(CBORError) -> UInt64 {
        switch short {
        case 0..<24: return UInt64(short)
        case 24...27:
            let size = 1 << (Int(short) - 24)
            let value = try content(UInt64(size)).reduce(0) { $0 << 8 | UInt64($1) }
            // What one byte less in the head, or half the bytes, could hold must be written so.
            // check: CBORTests.shortest
            guard value >= (size == 1 ? 24 : 1 << UInt64(size * 4)) else { throw .notShortest }
            return value
        case 31 where isString: throw .indefiniteLength
        default: throw .reserved
        }
    }

    private func signed(_ number: UInt64) throws(CBORError) -> Int64 {
        guard let number = Int64(exactly: number) else { throw .integerOutOfRange }
        return number
    }

    private mutating func content(_ count: UInt64) throws(CBORError) -> ArraySlice<UInt8> {
        guard count <= UInt64(bytes.count - offset) else { throw .endsEarly }
        defer { offset += Int(count) }
        return bytes[offset..<offset + Int(count)]
    }

    private mutating func elements(_ count: UInt64, depth: Int) throws(CBORError) -> [CBORValue] {
        // check: CBORTests.depth
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        var elements: [CBORValue] = []
        for _ in 0..<count { elements.append(try value(depth: depth)) }
        return elements
    }

    private mutating func members(_ count: UInt64, depth: Int) throws(CBORError) -> [CBORMember] {
        // check: CBORTests.depth
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        var members: [CBORMember] = []
        var before: ArraySlice<UInt8> = []
        for _ in 0..<count {
            let start = offset
            let key = try value(depth: depth)
            // check: CBORTests.keyTypes
            guard key.integer != nil || key.text != nil else { throw .keyType }
            let spelling = bytes[start..<offset]
            // check: CBORTests.duplicates
            guard spelling != before else { throw .duplicateKey }
            // check: CBORTests.order
            guard Self.comesBefore(before, spelling) else { throw .keyOrder }
            before = spelling
            members.append(CBORMember(key: key, value: try value(depth: depth)))
        }
        return members
    }

    /// Whether a key stands before another: first by kind, then by length, then by bytes.
    private static func comesBefore(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        guard let first = left.first, let second = right.first else { return left.isEmpty }
        if first >> 5 != second >> 5 { return first < second }
        if left.count != right.count { return left.count < right.count }
        return left.lexicographicallyPrecedes(right)
    }
}
