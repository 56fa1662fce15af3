public import Foundation

/// Where a system's session for signing in notices that the browser comes back to the app.
///
/// Spec: RFC 8252 §7.1, §7.2.
public enum BrowserCallback: Hashable, Sendable {
    /// At a URL scheme of the app's own.
    case scheme(String)
    /// At an address of a host that has the app among its associated ones.
    case https(host: String, path: String)

    /// What to wait for; nil for an address at which such a session notices nothing, such as one on this machine.
    public init?(_ redirectURI: URL) {
        guard let scheme = redirectURI.scheme?.lowercased() else { return nil }
        switch scheme {
        case "http": return nil
        case "https":
            guard let host = redirectURI.host(), redirectURI.port ?? 443 == 443 else { return nil }
            self = .https(host: host, path: redirectURI.path.isEmpty ? "/" : redirectURI.path)
        default: self = .scheme(scheme)
        }
    }
}
