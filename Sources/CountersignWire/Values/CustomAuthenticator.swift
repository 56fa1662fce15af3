/// A way to answer that a client judges itself, by a hook of its own.
///
/// Spec: docs/protocol/methods.md, *Custom authenticators*.
package struct CustomAuthenticator: Hashable, Sendable {
    /// How many a client may have.
    package static let maximumCount = 10

    /// Its name, which types and devices call it by.
    package let name: AuthenticatorName
    /// Who judges: called as callbacks are, and answers at once.
    package let hook: CallbackURI
    /// How long the hook may take.
    package let deadline: Seconds
    /// How often in a row it may want another try before the device must register it anew.
    package let attempts: Int

    /// An authenticator of these parts.
    package init(name: AuthenticatorName, hook: CallbackURI, deadline: Seconds = 5, attempts: Int = 5) {
        self.name = name
        self.hook = hook
        self.deadline = deadline
        self.attempts = attempts
    }
}
