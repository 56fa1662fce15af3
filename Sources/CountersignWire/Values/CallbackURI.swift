import Encodings
import Foundation

/// A URL a client registered for its callbacks: used exactly as registered.
package struct CallbackURI: Hashable, Sendable, CustomStringConvertible {
    /// The URL.
    package let description: String

    /// Its host and port, in lower case.
    package var authority: String {
        let url = URLComponents(string: description)
        let port = url?.port ?? (url?.scheme == "http" ? 80 : 443)
        return "\(host.lowercased()):\(port)"
    }

    /// Its host.
    package var host: String { URLComponents(string: description)?.host ?? "" }

    /// A URL that was accepted before.
    package init(stored text: String) {
        description = text
    }

    /// A URL as a request names it, which counts only where it is one that was accepted before.
    package init(named text: String) {
        description = text
    }

    /// Accepts a URL: `https`, or `http` to a loopback host in development mode; no user, no fragment.
    package init?(_ text: String, isDevelopment: Bool) {
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty, url.user == nil,
            url.password == nil, url.fragment == nil, text.utf8.count <= 2000,
            // Foundation mends what is not a URI; a line break in it would make two of it where it is stored.
            url.string?.hasSameBytes(as: text) == true
        else { return nil }
        switch url.scheme {
        case "https": break
        case "http" where isDevelopment && ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host): break
        default: return nil
        }
        description = text
    }
}
