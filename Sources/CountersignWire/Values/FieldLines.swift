import Encodings

/// Splits a signed text of fields into lines, working on bytes.
struct FieldLines {
    private var remaining: Substring?

    init(_ text: String) {
        remaining = text[...]
    }

    /// Everything that was not read yet.
    var rest: String { remaining.map(String.init) ?? "" }

    mutating func take() -> Substring? {
        guard let text = remaining else { return nil }
        guard let end = text.utf8.firstIndex(of: 0x0A) else {
            remaining = nil
            return text
        }
        remaining = text[text.utf8.index(after: end)...]
        return text[..<end]
    }

    mutating func optional<Value>(
        _ name: String, _ read: (Substring) -> Value?
    ) throws(ReceiptError) -> Value? {
        let prefix = "\(name): "
        guard let text = remaining, text.utf8.starts(with: prefix.utf8), let line = take() else { return nil }
        guard let value = read(Substring(line.utf8.dropFirst(prefix.utf8.count))) else { throw .malformedField(name) }
        return value
    }

    mutating func required<Value>(
        _ name: String, _ read: (Substring) -> Value?
    ) throws(ReceiptError) -> Value {
        guard let value = try optional(name, read) else { throw .malformedField(name) }
        return value
    }
}

/// A hash in a signed text: `sha256:` and 64 lower case hexadecimal digits.
enum HashLine {
    private static let prefix = "sha256:"

    static func value(_ hash: [UInt8]) -> String { prefix + Hex.encode(hash) }

    static func hash(_ value: Substring) -> [UInt8]? {
        guard value.utf8.starts(with: prefix.utf8),
            let hash = Hex.decodeIgnoringCase(Substring(value.utf8.dropFirst(prefix.utf8.count))), hash.count == 32
        else { return nil }
        return hash
    }
}
