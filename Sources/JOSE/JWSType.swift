/// The required value of the `typ` header.
///
/// If the caller names the expected kind of content, content of another kind cannot take its place; spec: RFC 8725
/// §3.11.
public enum JWSType: Sendable {
    /// Exactly this text, compared byte for byte.
    case exactly(String)
    /// Any value, or none: for other parties' content whose kind is known in another way.
    case unchecked
}
