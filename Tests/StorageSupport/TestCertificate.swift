import Crypto
package import Foundation
import SwiftASN1
package import X509

/// A certificate as a client shows it in TLS.
package struct TestCertificate: Sendable {
    /// Until when the usual one is valid: longer than any test runs.
    package static let usualEnd = Date(timeIntervalSince1970: 4_000_000_000)
    /// The certificate in DER.
    package let bytes: [UInt8]

    /// A certificate that its own key has signed.
    ///
    /// - Parameters:
    ///   - subject: its subject.
    ///   - names: its alternative names.
    ///   - end: until when it is valid.
    package init(_ subject: DistinguishedName, _ names: [GeneralName] = [], until end: Date = usualEnd) throws {
        let key = P256.Signing.PrivateKey()
        let extensions =
            names.isEmpty
            ? X509.Certificate.Extensions()
            : try X509.Certificate.Extensions([
                X509.Certificate.Extension(SubjectAlternativeNames(names), critical: false)
            ])
        let certificate = try X509.Certificate(
            version: .v3, serialNumber: X509.Certificate.SerialNumber(),
            publicKey: X509.Certificate.PublicKey(key.publicKey),
            notValidBefore: Date(timeIntervalSince1970: 1_000_000_000), notValidAfter: end, issuer: subject,
            subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: X509.Certificate.PrivateKey(key))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        bytes = serializer.serializedBytes
    }

    /// A certificate of a subject that has a common name alone.
    package init(named name: String, until end: Date = usualEnd) throws {
        let attribute = RelativeDistinguishedName.Attribute(
            type: .RDNAttributeType.commonName, utf8String: name)
        try self.init(try DistinguishedName([attribute]), until: end)
    }
}
