/// What the `typ` header must be.
///
/// Saying which kind of content is expected keeps one kind from being taken for another; spec: RFC 8725 §3.11.
public enum JWSType: Sendable {
    /// Exactly this text, compared byte for byte.
    case exactly(String)
    /// Whatever it is, or none: for contents of others whose kind is told in another way.
    case unchecked
}
