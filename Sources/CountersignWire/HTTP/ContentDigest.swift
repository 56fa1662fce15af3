import Crypto
import Encodings
import RawStructuredFieldValues

/// The `Content-Digest` field.
///
/// Spec: RFC 9530 §2.
public enum ContentDigest {
    /// The field's value for a body: its SHA-256 digest.
    public static func field(for body: some Collection<UInt8>) -> String {
        "sha-256=:\(Base64.encode(Array(SHA256.hash(data: Array(body))))):"
    }

    /// Whether a field's value holds the SHA-256 digest of a body.
    ///
    /// Digests by other algorithms are ignored; a field without a SHA-256 digest does not match.
    public static func matches(_ field: String, body: some Collection<UInt8>) -> Bool {
        // Nearly always the field is exactly what this module writes; otherwise it may be another spelling.
        if field.hasSameBytes(as: self.field(for: body)) { return true }
        var parser = StructuredFieldValueParser(Array(field.utf8))
        guard let members = try? parser.parseDictionaryFieldValue(),
            case .item(let item)? = members["sha-256"],
            case .undecodedByteSequence(let text) = item.rfc9651BareItem,
            let digest = Base64.decode(text)
        else { return false }
        return digest.elementsEqual(SHA256.hash(data: Array(body)))
    }
}
