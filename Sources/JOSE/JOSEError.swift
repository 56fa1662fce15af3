/// Why a JOSE object is refused.
public enum JOSEError: Error, Equatable, Sendable {
    /// It is not a compact JWS, or not a JWK, in the form that the specification requires.
    case malformed
    /// It is larger than the limit.
    case tooLarge
    /// Its algorithm is not among those that the caller named.
    ///
    /// Spec: RFC 8725 §3.1.
    case unexpectedAlgorithm
    /// Its `typ` is not the one that the caller named.
    ///
    /// Spec: RFC 8725 §3.11.
    case unexpectedType
    /// It has a `crit` header, or the `b64` that must be listed there: no critical header is understood.
    ///
    /// Spec: RFC 7515 §4.1.11, RFC 7797 §6.
    case criticalHeader
    /// No key has the `kid` of the header, or the header has none.
    ///
    /// There is no default key.
    case unknownKeyID
    /// The named key has another algorithm than the header.
    ///
    /// Spec: RFC 8725 §3.1.
    case wrongKey
    /// The signature does not verify.
    case badSignature
    /// A key type, curve, algorithm, use or operation is not supported.
    case unsupportedKey
    /// The key is too weak: RSA below 2048 bits or with a small exponent, or a point of small order.
    ///
    /// Spec: RFC 7518 §3.3, RFC 8725 §3.5.
    case weakKey
    /// A private or symmetric key was given where a public key is required.
    case privateKey
    /// Two keys of a set have the same `kid`.
    case duplicateKeyID
}
