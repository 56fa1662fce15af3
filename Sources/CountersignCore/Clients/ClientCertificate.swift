import CountersignWire
import Crypto
import Encodings
import SwiftASN1
import X509

// All rules on how a certificate shows who a client is are in this file. None is verified here: TLS has shown that the
// other end has the private key, and whether an authority has signed the certificate, for how long, and whether it was
// revoked, is for whoever ends TLS to say.
//
// Spec: docs/decisions/0094-client-certificates.md.

/// The certificate by which the other end of a request's connection has authenticated in TLS.
package struct ClientCertificate: Hashable, Sendable {
    /// The certificate in DER.
    private let bytes: [UInt8]
    /// Whether whoever ended TLS has verified that an authority which it trusts has signed it, and that it is valid now.
    private let isVerified: Bool

    /// A certificate.
    ///
    /// - Parameters:
    ///   - bytes: the certificate in DER.
    ///   - isVerified: whether the authority behind it is one that whoever ended TLS trusts.
    package init(_ bytes: [UInt8], isVerified: Bool) {
        self.bytes = bytes
        self.isVerified = isVerified
    }

    /// Its SHA-256 in base64url.
    ///
    /// Spec: RFC 8705 §3.1.
    package var thumbprint: String { Base64URL.encode(Array(SHA256.hash(data: bytes))) }

    /// Whether a client authenticates by it that may by such certificates.
    ///
    /// A certificate that is registered itself is the client's until it is registered no more: neither its dates nor its
    /// signature say more than that. Names count only in one that was verified, as anybody can sign any name.
    ///
    /// Spec: RFC 8705 §2.1, §2.2.
    func fits(_ rule: CertificateRule) -> Bool {
        if case .thumbprints(let registered) = rule { return registered.contains(thumbprint) }
        // check: ClientCertificateTests.unverified
        guard isVerified else { return false }
        guard let certificate = try? X509.Certificate(derEncoded: bytes) else { return false }
        if case .subject(let subject) = rule {
            return certificate.subject.reversed().map(Self.attributes) == subject.parts
        }
        guard let names = try? certificate.extensions.subjectAlternativeNames else { return false }
        return names.contains { Self.isName($0, of: rule) }
    }

    /// The attributes of one part of a name.
    private static func attributes(of part: RelativeDistinguishedName) -> Set<SubjectName.Attribute> {
        Set(
            part.map { attribute in
                let text = String(attribute.value).map { SubjectName.Attribute.Value.text(Array($0.utf8)) }
                return SubjectName.Attribute(
                    type: "\(attribute.type)", value: text ?? .other(encoded(ASN1Any(attribute.value))))
            })
    }

    private static func encoded(_ value: ASN1Any) -> [UInt8] {
        var serializer = DER.Serializer()
        // What was parsed can be written again; no bytes are the value of no attribute.
        guard (try? serializer.serialize(value)) != nil else { return [] }
        return serializer.serializedBytes
    }

    /// Whether a name of a certificate is the one that a rule has: of the same kind, and all of it.
    ///
    /// Only the letters of a domain name may be of another case; an asterisk is an asterisk. Spec: RFC 5280 §4.2.1.6,
    /// §7.2.
    private static func isName(_ name: GeneralName, of rule: CertificateRule) -> Bool {
        switch (rule, name) {
        case (.domain(let registered), .dnsName(let domain)): domain.lowercased() == registered.lowercased()
        case (.uri(let registered), .uniformResourceIdentifier(let uri)): uri.hasSameBytes(as: registered)
        case (.address(let registered), .ipAddress(let address)): registered.bytes.elementsEqual(address.bytes)
        case (.mail(let registered), .rfc822Name(let mail)): mail.hasSameBytes(as: registered)
        default: false
        }
    }
}
