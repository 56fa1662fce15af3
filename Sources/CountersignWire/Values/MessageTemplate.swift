/// The texts that people get by mail and as text messages; operators may write their own.
package enum MessageTemplate: String, CaseIterable, Sendable {
    /// Shows an operator that messages arrive.
    case test
    /// Brings a code that proves that the person gets what is sent there.
    case code
    /// Brings the code of a sign-in, in a mail also a link.
    case signIn = "sign-in"
    /// Tells a person what was done with one of their trusted devices.
    case device
    /// Tells a person that they have a new passkey, or that one was removed.
    case passkey
    /// Tells a person that they have a new address, or that one was removed.
    case address
    /// Tells a person that the code was set or removed without which no client's server has them asked.
    case userCode = "user-code"
    /// Tells a person of a sign-in that may be somebody else's.
    case signedIn = "signed-in"
}
