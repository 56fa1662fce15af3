package import Crypto
package import CountersignWire
package import Encodings

/// The credentials from Apple for sending pushes to the operator's apps.
///
/// Spec: APNs provider API, token-based authentication.
package struct APNsSettings: Sendable {
    /// The team id: 10 letters and digits.
    package let team: String
    /// The key id: 10 letters and digits.
    package let keyID: String
    /// The private key; Apple lets it be downloaded only once.
    package let key: Secret<P256.Signing.PrivateKey>
    /// The bundle identifiers of the apps.
    package let apps: Set<AppID>
    /// A base URL to use instead of Apple's, for both environments: `https://host:port`.
    package let url: String?
    /// A file of trusted certificates, used instead of the system's; for tests.
    package let authorities: String?

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
