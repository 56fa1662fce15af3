/// Why a JOSE object is refused.
public enum JOSEError: Error, Equatable, Sendable {
    /// Not a compact JWS, or not a JWK, of the form the specification gives.
    case malformed
    /// Larger than the limit that applies.
    case tooLarge
    /// An algorithm other than those the caller named.
    ///
    /// Spec: RFC 8725 §3.1.
    case unexpectedAlgorithm
    /// A `typ` other than the one the caller named.
    ///
    /// Spec: RFC 8725 §3.11.
    case unexpectedType
    /// A `crit` header, or the `b64` that belongs into one: nothing critical is understood.
    ///
    /// Spec: RFC 7515 §4.1.11, RFC 7797 §6.
    case criticalHeader
    /// No key has the `kid` of the header, or the header has none.
    ///
    /// There is no default key.
    case unknownKeyID
    /// The key that is named is of another algorithm than the header.
    ///
    /// Spec: RFC 8725 §3.1.
    case wrongKey
    /// The signature does not verify.
    case badSignature
    /// A key type, curve, algorithm, use or operation outside what is supported.
    case unsupportedKey
    /// A key that protects nothing: RSA below 2048 bits or with a small exponent, or a point of small order.
    ///
    /// Spec: RFC 7518 §3.3, RFC 8725 §3.5.
    case weakKey
    /// A private or symmetric key where a public key belongs.
    case privateKey
    /// Two keys of a set have the same `kid`.
    case duplicateKeyID
}
