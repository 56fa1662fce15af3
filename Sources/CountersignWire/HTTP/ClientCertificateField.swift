import Encodings
import RawStructuredFieldValues

/// The field `Client-Cert`, in which a proxy hands on the certificate by which its client has authenticated in TLS.
///
/// Spec: RFC 9440 §2.2.
package enum ClientCertificateField {
    /// The field's name.
    package static let name = "Client-Cert"

    /// The field's value for a certificate in DER.
    package static func value(of certificate: [UInt8]) -> String { ":\(Base64.encode(certificate)):" }

    /// The certificate in DER; nil if the value is not one byte sequence with something in it.
    ///
    /// Spec: RFC 9440 §2.1.
    package static func certificate(in value: String) -> [UInt8]? {
        var parser = StructuredFieldValueParser(Array(value.utf8))
        guard let item = try? parser.parseItemFieldValue(),
            case .undecodedByteSequence(let text) = item.rfc9651BareItem, let bytes = Base64.decode(text),
            !bytes.isEmpty
        else { return nil }
        return bytes
    }
}
