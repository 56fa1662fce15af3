package import Encodings

/// A name and a password that a client's receiver asks for, besides the signature.
///
/// For receivers that check no signature yet: the password goes over the wire, the signing secret never does.
/// Spec: RFC 7617 §2.
package struct BasicCredentials: Sendable {
    /// The longest name and the longest password, in bytes of UTF-8.
    package static let maximumLength = 128

    /// The name.
    package let username: String
    /// The password.
    package let password: Secret<String>

    /// Credentials that can be sent: both of 1 to ``maximumLength`` bytes without control characters, the name without
    /// a colon; nil otherwise.
    package init?(username: String, password: Secret<String>) {
        let isFit = [username, password.reveal()].allSatisfy { text in
            (1...Self.maximumLength).contains(text.utf8.count)
                && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        }
        guard isFit, !username.utf8.contains(UInt8(ascii: ":")) else { return nil }
        self.username = username
        self.password = password
    }
}
