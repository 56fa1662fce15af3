/// Why the parser refuses a JSON text.
///
/// Offsets count bytes from the start.
public enum JSONSyntaxError: Error, Equatable, Sendable {
    /// The text is not well-formed UTF-8.
    case invalidUTF8
    /// A character is not allowed at this place, or the text ends too early.
    case unexpected(offset: Int)
    /// Something follows the value.
    case trailingData(offset: Int)
    /// More than ``JSONParser/maximumDepth`` arrays and objects are nested.
    case tooDeep(offset: Int)
    /// An object has the same name twice: two readers could disagree on its meaning.
    case duplicateMember(name: String)
    /// A `\u` escape leaves half a surrogate pair.
    case unpairedSurrogate(offset: Int)
    /// A number is beyond the range of a double.
    case numberOutOfRange(offset: Int)
}

extension JSONValue {
    /// Reads one JSON text, strictly: well-formed UTF-8, no name twice, no unpaired surrogate, no byte order mark,
    /// nothing after the value.
    ///
    /// Spec: RFC 8259; the refusals are those of RFC 7493 §2 (I-JSON).
    public init(parsing bytes: some Collection<UInt8>) throws(JSONSyntaxError) {
        var parser = try JSONParser(bytes)
        self = try parser.text()
    }
}

/// A strict recursive-descent parser; memory stays within a small multiple of the input.
public struct JSONParser {
    /// How deep arrays and objects may be nested.
    public static let maximumDepth = 32

    private let bytes: [UInt8]
    private var offset = 0

    fileprivate init(_ bytes: some Collection<UInt8>) throws(JSONSyntaxError) {
        guard String(strictUTF8: bytes) != nil else { throw .invalidUTF8 }
        self.bytes = Array(bytes)
    }

    fileprivate mutating func text() throws(JSONSyntaxError) -> JSONValue {
        skipBlanks()
        let value = try value(depth: 0)
        skipBlanks()
        guard offset == bytes.count else { throw .trailingData(offset: offset) }
        return value
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        switch next {
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONObject {
        guard depth <= Self.maximumDepth else { throw .tooDeep(offset: offset) }
        var object = JSONObject()
        var names: Set<[UInt8]> = []
        offset += 1
        skipBlanks()
        if take(UInt8(ascii: "}")) { return object }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw .unexpected(offset: offset) }
            let name = try string()
            guard names.insert(Array(name.utf8)).inserted else { throw .duplicateMember(name: name) }
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw .unexpected(offset: offset) }
            skipBlanks()
            object.append(name, try value(depth: depth))
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw .unexpected(offset: offset) }
        return object
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
        guard depth <= Self.maximumDepth else { throw .tooDeep(offset: offset) }
        var elements: [JSONValue] = []
        offset += 1
        skipBlanks()
        if take(UInt8(ascii: "]")) { return elements }
        repeat {
            skipBlanks()
            elements.append(try value(depth: depth))
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw .unexpected(offset: offset) }
        return elements
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        offset += 1
        let start = offset
        // Most strings have no escape: then their bytes are the text.
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { offset += 1 }
        if next == UInt8(ascii: "\"") {
            defer { offset += 1 }
            return String(decoding: bytes[start..<offset], as: UTF8.self)
        }
        var text = Array(bytes[start..<offset])
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw .unexpected(offset: offset) }
            if byte == UInt8(ascii: "\\") {
                text.append(contentsOf: try escaped())
            } else {
                text.append(byte)
                offset += 1
            }
        }
        guard take(UInt8(ascii: "\"")) else { throw .unexpected(offset: offset) }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func escaped() throws(JSONSyntaxError) -> [UInt8] {
        let start = offset
        offset += 1
        guard let kind = next else { throw .unexpected(offset: offset) }
        offset += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [kind]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(try unicodeScalar(escapeAt: start)).utf8)
        default: throw .unexpected(offset: offset - 1)
        }
    }

    private mutating func unicodeScalar(escapeAt start: Int) throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try fourDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw .unpairedSurrogate(offset: start)
        }
        let second = try fourDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw .unpairedSurrogate(offset: start) }
        return scalar
    }

    private mutating func fourDigits() throws(JSONSyntaxError) -> UInt32 {
        guard offset + 4 <= bytes.count,
            let digits = Hex.decodeIgnoringCase(String(decoding: bytes[offset..<offset + 4], as: UTF8.self))
        else { throw .unexpected(offset: offset) }
        offset += 4
        return UInt32(digits[0]) << 8 | UInt32(digits[1])
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        var whole = true
        if take(UInt8(ascii: ".")) {
            whole = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            whole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if whole, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else { throw .numberOutOfRange(offset: start) }
        return .double(double)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = offset
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
        guard offset > start else { throw .unexpected(offset: offset) }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        let start = offset
        for byte in text.description.utf8 {
            guard take(byte) else { throw .unexpected(offset: start) }
        }
        return value
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }
}
