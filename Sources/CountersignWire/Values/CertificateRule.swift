import Foundation

/// By which certificates a client authenticates.
///
/// Spec: RFC 8705 §2.1.2, §2.2.
package enum CertificateRule: Hashable, Sendable {
    /// One with this subject, from an authority that whoever ends TLS trusts.
    case subject(SubjectName)
    /// One from such an authority for this domain name.
    case domain(String)
    /// One from such an authority for this URI.
    case uri(String)
    /// One from such an authority for this network address.
    case address(CertificateAddress)
    /// One from such an authority for this mail address.
    case mail(String)
    /// One of these, whoever has signed it, by its SHA-256 in base64url.
    case thumbprints([String])

    /// How many certificates a client may list.
    package static let maximumThumbprints = 10
    /// How long a name may be, in bytes.
    package static let maximumSize = 1024
}

/// A network address in a certificate.
package struct CertificateAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address as it was written.
    package let description: String
    /// Its 4 or 16 bytes, of which one address has the same however it is written.
    package let bytes: [UInt8]

    /// Reads an address in its usual notation.
    package init?(_ text: String) {
        // C would read up to it.
        guard !text.utf8.contains(0) else { return nil }
        var version4 = in_addr()
        var version6 = in6_addr()
        if inet_pton(AF_INET, text, &version4) == 1 {
            bytes = withUnsafeBytes(of: version4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &version6) == 1 {
            bytes = withUnsafeBytes(of: version6) { Array($0) }
        } else {
            return nil
        }
        description = text
    }
}
