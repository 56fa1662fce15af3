import Encodings

/// The name of a certificate's subject, as an operator writes it.
///
/// Two names are the same if they have the same parts in the same order, each with the same attributes in any order;
/// texts are compared byte for byte, whatever string type a certificate gives them. That is stricter than X.500, where
/// `Shop` is `shop`: an authority may well give both, to different people.
///
/// Spec: RFC 4514 §2.1, §2.4, §3.
package struct SubjectName: Hashable, Sendable, CustomStringConvertible {
    /// One attribute of a name.
    package struct Attribute: Hashable, Sendable {
        /// What an attribute says.
        package enum Value: Hashable, Sendable {
            /// A text, in UTF-8.
            case text([UInt8])
            /// Anything else, in DER.
            case other([UInt8])
        }

        /// The type, an object identifier in dotted form.
        package let type: String
        /// The value.
        package let value: Value

        /// An attribute of these parts.
        package init(type: String, value: Value) {
            self.type = type
            self.value = value
        }
    }

    /// How long a name may be, in bytes.
    package static let maximumSize = 1024
    /// The names of types that are understood besides object identifiers: those of RFC 4514 §3, and those that stand
    /// in the certificates of banks and their customers.
    private static let types = [
        "cn": "2.5.4.3", "sn": "2.5.4.4", "serialnumber": "2.5.4.5", "c": "2.5.4.6", "l": "2.5.4.7", "st": "2.5.4.8",
        "street": "2.5.4.9", "o": "2.5.4.10", "ou": "2.5.4.11", "title": "2.5.4.12", "businesscategory": "2.5.4.15",
        "gn": "2.5.4.42", "organizationidentifier": "2.5.4.97", "uid": "0.9.2342.19200300.100.1.1",
        "dc": "0.9.2342.19200300.100.1.25", "e": "1.2.840.113549.1.9.1", "emailaddress": "1.2.840.113549.1.9.1",
        "jurisdictionc": "1.3.6.1.4.1.311.60.2.1.3",
    ]

    /// The name as it was written.
    package let description: String
    /// Its parts, in the order in which it is written: the last part of the certificate's name first.
    ///
    /// Spec: RFC 4514 §2.1.
    package let parts: [Set<Attribute>]

    /// Reads a name; nil if it has no part, or is malformed.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumSize else { return nil }
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let parts = reader.name() else { return nil }
        description = text
        self.parts = parts
    }

    /// Reads the form of RFC 4514 §3.
    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func name() -> [Set<Attribute>]? {
            var parts: [Set<Attribute>] = []
            repeat {
                var part: Set<Attribute> = []
                repeat {
                    guard let attribute = attribute(), part.insert(attribute).inserted else { return nil }
                } while take("+")
                parts.append(part)
            } while take(",")
            return rest.isEmpty ? parts : nil
        }

        private mutating func attribute() -> Attribute? {
            // Many programs write a space after the comma; no type begins with one.
            while take(" ") {}
            let name = rest.prefix { $0 != UInt8(ascii: "=") }
            rest = rest.dropFirst(name.count)
            guard take("="), let type = SubjectName.type(named: String(decoding: name, as: UTF8.self)) else {
                return nil
            }
            guard let value = rest.first == UInt8(ascii: "#") ? encoded() : text() else { return nil }
            return Attribute(type: type, value: value)
        }

        /// A value with its escapes taken away; nil if it has what must be escaped, or is no UTF-8.
        private mutating func text() -> Attribute.Value? {
            var bytes: [UInt8] = []
            var endsInSpace = false
            while let byte = rest.first, byte != UInt8(ascii: ","), byte != UInt8(ascii: "+") {
                rest.removeFirst()
                endsInSpace = false
                switch byte {
                case UInt8(ascii: "\\"):
                    guard let escaped = escaped() else { return nil }
                    bytes.append(escaped)
                case UInt8(ascii: "\""), UInt8(ascii: ";"), UInt8(ascii: "<"), UInt8(ascii: ">"), 0: return nil
                case UInt8(ascii: " ") where bytes.isEmpty: return nil
                default:
                    endsInSpace = byte == UInt8(ascii: " ")
                    bytes.append(byte)
                }
            }
            guard !bytes.isEmpty, !endsInSpace, String(strictUTF8: bytes) != nil else { return nil }
            return .text(bytes)
        }

        private mutating func escaped() -> UInt8? {
            guard let first = rest.popFirst() else { return nil }
            if " \"#+,;<=>\\".utf8.contains(first) { return first }
            guard let second = rest.popFirst() else { return nil }
            return Hex.decodeIgnoringCase(String(decoding: [first, second], as: UTF8.self))?.first
        }

        /// A value in DER, in hexadecimal; that of a text is the text.
        private mutating func encoded() -> Attribute.Value? {
            rest.removeFirst()
            let digits = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "+") }
            rest = rest.dropFirst(digits.count)
            guard let bytes = Hex.decodeIgnoringCase(String(decoding: digits, as: UTF8.self)), bytes.count > 1 else {
                return nil
            }
            return SubjectName.text(inDER: bytes).map { .text($0) } ?? .other(bytes)
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }
    }

    /// The text in an UTF8String, a PrintableString or an IA5String of up to 255 bytes; nil for anything else.
    private static func text(inDER bytes: [UInt8]) -> [UInt8]? {
        guard [0x0C, 0x13, 0x16].contains(bytes[0]) else { return nil }
        let text = bytes[1] == 0x81 ? bytes.dropFirst(3) : bytes.dropFirst(2)
        let length = bytes[1] == 0x81 ? bytes.dropFirst(2).first : bytes[1]
        guard length.map({ Int($0) }) == text.count, String(strictUTF8: Array(text)) != nil else { return nil }
        return Array(text)
    }

    private static func type(named name: String) -> String? {
        if let type = types[name.lowercased()] { return type }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        let isIdentifier = numbers.allSatisfy { number in
            number.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                && !number.isEmpty && (number == "0" || number.first != "0")
        }
        return numbers.count > 1 && isIdentifier ? name : nil
    }
}
