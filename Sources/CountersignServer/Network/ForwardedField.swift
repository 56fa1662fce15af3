import CountersignWire

/// Parses the field `Forwarded`, in which each proxy adds the address of its peer at the end.
///
/// The grammar is enforced strictly. Callers write the beginning of the field, where an unbalanced quotation mark could
/// hide what proxies add; so a malformed field is refused as a whole.
///
/// Spec: RFC 7239 §4, RFC 9110 §5.6.
struct ForwardedField {
    private var rest: Substring.UTF8View

    /// The values of the parameter `for` in their order; nil for an element without one.
    ///
    /// - Throws: ``MalformedRequest`` if the value does not match the grammar.
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

    /// The value of `for` in an element, or an empty text; nil if the element is malformed or repeats a parameter.
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
