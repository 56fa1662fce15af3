/// The supported signature algorithms.
///
/// Each belongs to one kind of key, so no key can be used with another key's algorithm. `none` and the symmetric
/// algorithms are not supported.
public enum JWSAlgorithm: String, CaseIterable, Sendable {
    /// ECDSA on P-256 with SHA-256.
    ///
    /// Spec: RFC 7518 §3.4.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    ///
    /// Spec: RFC 7518 §3.3.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256; only for verifying.
    ///
    /// Spec: RFC 7518 §3.5.
    case ps256 = "PS256"
    /// EdDSA, only with Ed25519.
    ///
    /// Spec: RFC 8037 §3.1.
    case edDSA = "EdDSA"
}
