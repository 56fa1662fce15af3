/// The algorithms that contents are signed with here.
///
/// Each belongs to one kind of key, so that no key can be used with another's algorithm. `none` and the symmetric ones
/// do not exist.
public enum JWSAlgorithm: String, CaseIterable, Sendable {
    /// ECDSA on P-256 with SHA-256.
    ///
    /// Spec: RFC 7518 §3.4.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    ///
    /// Spec: RFC 7518 §3.3.
    case rs256 = "RS256"
    /// EdDSA, with Ed25519 alone.
    ///
    /// Spec: RFC 8037 §3.1.
    case edDSA = "EdDSA"
}
