/// Where a client publishes the public keys by which it authenticates.
///
/// Spec: OpenID Connect Dynamic Client Registration 1.0 §2 (`jwks_uri`).
package struct KeysURI: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes a URI may have.
    package static let maximumLength = 2048
    /// The URI.
    package let description: String

    /// Accepts a URI: `https`, or `http` to a loopback host in development mode; no user, no fragment.
    package init?(_ text: String, isDevelopment: Bool) {
        guard text.utf8.count <= Self.maximumLength, CallbackURI.mayBeCalled(text, isDevelopment: isDevelopment) else {
            return nil
        }
        description = text
    }
}
