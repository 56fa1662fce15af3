package import Crypto
package import CountersignWire
package import Encodings

/// What an operator has from Apple, to send pushes to their apps.
///
/// Spec: APNs provider API, token-based authentication.
package struct APNsSettings: Sendable {
    /// The team's id: 10 letters and digits.
    package let team: String
    /// The name of the key: 10 letters and digits.
    package let keyID: String
    /// The key, from the file that Apple gives once.
    package let key: Secret<P256.Signing.PrivateKey>
    /// The apps, by their bundle identifiers.
    package let apps: Set<AppID>
    /// Where to send instead of Apple's addresses, for both environments: `https://host:port`.
    package let url: String?
    /// The file of the certificates to trust instead of the system's; for a test.
    package let authorities: String?

    /// Settings of these parts.
    package init(
        team: String, keyID: String, key: P256.Signing.PrivateKey, apps: Set<AppID>, url: String? = nil,
        authorities: String? = nil
    ) {
        self.team = team
        self.keyID = keyID
        self.key = Secret(key)
        self.apps = apps
        self.url = url
        self.authorities = authorities
    }

    func base(_ environment: APNsEnvironment) -> String {
        if let url { return url }
        return switch environment {
        case .production: "https://api.push.apple.com"
        case .development: "https://api.development.push.apple.com"
        }
    }
}
