/// Why a JOSE object is refused.
public enum JOSEError: Error, Equatable, Sendable {
    /// Not a compact JWS, or not a JWK, of the form the specification gives.
    case malformed
    /// Larger than the limit that applies.
    case tooLarge
    /// An algorithm other than the one the caller named.
    ///
    /// Spec: RFC 8725 §3.1.
    case unexpectedAlgorithm
    /// A `typ` other than the one the caller named.
    ///
    /// Spec: RFC 8725 §3.11.
    case unexpectedType
    /// A `crit` header: nothing critical is understood.
    ///
    /// Spec: RFC 7515 §4.1.11.
    case criticalHeader
    /// No key has the `kid` of the header, or the header has none.
    ///
    /// There is no default key.
    case unknownKeyID
    /// A key type, curve or use outside what is supported.
    case unsupportedKey
    /// The signature does not verify.
    case badSignature
}
