import CountersignWire

/// Reads the field `Forwarded`: the nodes by which proxies say whom they were called by, the newest last.
///
/// The grammar is kept to the letter, since callers write the beginning of the field: what a quotation mark of theirs
/// could hide is refused with the whole field.
///
/// Spec: RFC 7239 §4, RFC 9110 §5.6.
struct ForwardedField {
    private var rest: Substring.UTF8View

    /// The nodes of a field's value, in their order; nil in the place of one that an element does not name.
    ///
    /// - Throws: ``MalformedRequest`` for everything that is not the field's grammar.
    static func nodes(in value: String) throws(MalformedRequest) -> [String?] {
        var field = ForwardedField(rest: value[...].utf8)
        guard let nodes = field.list() else { throw MalformedRequest(description: "Forwarded is malformed") }
        return nodes
    }

    private mutating func list() -> [String?]? {
        var nodes: [String?] = []
        repeat {
            skipBlanks()
            guard let node = element() else { return nil }
            nodes.append(node.isEmpty ? nil : node)
            skipBlanks()
        } while take(",")
        return rest.isEmpty ? nodes : nil
    }

    /// An element's node, empty when it names none; nil when it is malformed or names a parameter twice.
    private mutating func element() -> String? {
        var seen: Set<String> = []
        var node = ""
        repeat {
            let name = token().lowercased()
            if name.isEmpty { continue }
            guard seen.insert(name).inserted, take("="), let value = value() else { return nil }
            if name == "for" {
                guard !value.isEmpty else { return nil }
                node = value
            }
        } while take(";")
        return node
    }

    private mutating func value() -> String? {
        guard take("\"") else {
            let token = token()
            return token.isEmpty ? nil : token
        }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), Self.isText(escaped) else { return nil }
                bytes.append(escaped)
            default:
                guard Self.isText(byte) else { return nil }
                bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func token() -> String {
        let token = rest.prefix { $0.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
        rest = rest.dropFirst(token.count)
        return String(Substring(token))
    }

    private mutating func skipBlanks() {
        rest = rest.drop { Self.isBlank($0) }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    private static func isText(_ byte: UInt8) -> Bool { isBlank(byte) || byte > 0x20 && byte != 0x7F }
}
