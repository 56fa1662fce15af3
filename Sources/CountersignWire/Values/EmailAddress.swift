import Foundation

/// A mail address: `local@domain`.
///
/// The local part is a dot-string, in UTF-8 if it is international. Quoted strings, comments and addresses in brackets
/// are refused, because people do not have such addresses. The domain is stored in lower case. Spec: RFC 5321 §4.1.2
/// and §4.5.3.1, RFC 6531 §3.3.
public struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
    /// The part before the `@`: at most 64 bytes.
    public let local: String
    /// The domain, in Unicode if it was given so.
    public let domain: String
    /// The domain for DNS, with international labels as `xn--…`.
    ///
    /// Spec: RFC 5891 §4.
    public let asciiDomain: String

    /// The address.
    public var description: String { "\(local)@\(domain)" }

    /// The address for a mail server that supports no international addresses, unless ``needsSMTPUTF8``.
    public var onTheWire: String { "\(local)@\(asciiDomain)" }

    /// Whether the address needs a mail server that offers SMTPUTF8.
    ///
    /// Spec: RFC 6531 §3.1.
    public var needsSMTPUTF8: Bool { !local.utf8.allSatisfy { $0 < 0x80 } }

    /// Reads an address of at most 254 bytes, or nil.
    public init?(_ text: String) {
        guard text.utf8.count <= 254, text.precomposedStringWithCanonicalMapping.utf8.elementsEqual(text.utf8),
            text.unicodeScalars.allSatisfy(Self.isFit)
        else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count) else { return nil }
        let atoms = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        guard atoms.allSatisfy({ !$0.isEmpty && $0.unicodeScalars.allSatisfy(Self.isAtomText) }) else { return nil }
        let domain = parts[1].lowercased()
        guard let ascii = Self.asciiDomain(domain) else { return nil }
        local = String(parts[0])
        self.domain = domain
        asciiDomain = ascii
    }

    /// Whether a character is allowed: no controls, no blanks, nothing invisible.
    private static func isFit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }

    /// Spec: RFC 5322 §3.2.3 `atext`, RFC 6532 §3.2.
    private static func isAtomText(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII || scalar.value < 0x80 && UInt8(scalar.value).isLetterOrDigit
            || "!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
    }

    private static func asciiDomain(_ domain: String) -> String? {
        let ascii: String
        if domain.utf8.allSatisfy({ $0 < 0x80 }) {
            ascii = domain
        } else {
            guard let encoded = URLComponents(string: "http://\(domain)/")?.encodedHost else { return nil }
            ascii = encoded.lowercased()
        }
        let labels = ascii.split(separator: ".", omittingEmptySubsequences: false)
        // Spec: RFC 1035 §2.3.1 and §2.3.4.
        let areFit = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
                && label.first != "-" && label.last != "-"
        }
        // A domain that ends in digits would be an IP address.
        guard areFit, ascii.utf8.count <= 253, labels.last?.allSatisfy(\.isNumber) == false else { return nil }
        return ascii
    }
}
