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
        guard text.utf8.count <= 2000, Self.mayBeCalled(text, isDevelopment: isDevelopment) else { return nil }
        description = text
    }

    /// Whether a text is a URL that the server may call.
    static func mayBeCalled(_ text: String, isDevelopment: Bool) -> Bool {
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty, url.user == nil,
            url.password == nil, !text.utf8.contains(UInt8(ascii: "#")),
            // Foundation mends what is not a URI; a line break in it would make two of it where it is stored.
            url.string?.hasSameBytes(as: text) == true
        else { return false }
        switch url.scheme {
        case "https": return true
        case "http": return isDevelopment && ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host)
        default: return false
        }
    }
}
