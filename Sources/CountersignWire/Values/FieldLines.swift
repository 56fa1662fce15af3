/// Takes a signed text of fields apart line by line, on bytes.
struct FieldLines {
    private var remaining: Substring?

    init(_ text: String) {
        remaining = text[...]
    }

    /// Everything not taken yet.
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
