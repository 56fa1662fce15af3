import Encodings

/// The name of an API that takes access tokens of ours: an absolute URI without a fragment.
///
/// Spec: RFC 8707 §2.
package struct ResourceIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes a name may have.
    package static let maximumLength = 255
    /// How many APIs a client may have tokens for, and how many a request may name.
    package static let maximumCount = 10

    /// The URI.
    package let description: String

    /// Accepts an absolute URI, or nil.
    ///
    /// Names are compared byte by byte and never fetched, so that more than their shape need not be known. Spec: RFC
    /// 3986 §4.3, §6.2.1.
    package init?(_ text: String) {
        // By octets: to Unicode, U+212A is the same as K. And it is read from each access token.
        let bytes = text.utf8
        guard bytes.count <= Self.maximumLength, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes.first?.isLowercaseLetter == true,
            bytes[..<colon].allSatisfy({ $0.isLowercaseLetter || $0.isDigit || "+.-".utf8.contains($0) })
        else { return nil }
        let rest = bytes[colon...].dropFirst()
        guard !rest.isEmpty, rest.allSatisfy({ $0.isUnreserved || ":/?[]@!$&'()*+,;=%".utf8.contains($0) }) else {
            return nil
        }
        description = text
    }
}

/// An API that takes access tokens of ours, and the scopes that it knows.
///
/// Spec: RFC 8707 §2, RFC 9068 §3.
package struct ProtectedResource: Hashable, Sendable {
    /// How many scopes an API may have.
    package static let maximumScopes = 50

    /// Its name, which is the audience of its tokens.
    package let identifier: ResourceIdentifier
    /// Its scopes.
    package let scopes: [String]

    /// An API of these parts.
    package init(identifier: ResourceIdentifier, scopes: [String]) {
        self.identifier = identifier
        self.scopes = scopes
    }

    /// Whether a text can be the name of a scope.
    ///
    /// Spec: RFC 6749 §3.3.
    package static func isScope(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            }
    }
}
