import Encodings
import Foundation

/// A URI that a client registered, to which a browser goes with the result of a sign-in.
///
/// Spec: RFC 6749 §3.1.2, RFC 8252 §7, RFC 9700 §2.1.
package struct RedirectURI: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes a URI may have.
    package static let maximumLength = 2000
    /// How many URIs a client may register.
    package static let maximumCount = 100

    /// What kind of place a URI names, which decides what may be registered and how it is compared.
    package enum Kind: Sendable {
        /// A page of a web application.
        case https
        /// A listener on the user's own machine.
        case loopback
        /// An app, by a scheme of its own.
        case privateScheme
        /// An app, by a scheme without a dot, which another app may have chosen as well.
        case bareScheme

        /// Whether it names an app by a scheme.
        package var isScheme: Bool { self == .privateScheme || self == .bareScheme }
    }

    /// The URI.
    package let description: String
    /// What kind of place it names.
    package let kind: Kind

    /// Well-known schemes without a dot: what browsers and systems do with the result is nobody's sign-in.
    ///
    /// No list has them all. A client's operator registers the scheme, and this keeps from slips.
    private static let knownSchemes: Set<String> = [
        "about", "android-app", "bitcoin", "blob", "chrome", "chrome-extension", "cid", "content", "data", "dns",
        "edge", "facetime", "facetime-audio", "feed", "file", "filesystem", "ftp", "geo", "git", "gopher", "intent",
        "irc", "itms", "itms-apps", "itms-services", "jar", "javascript", "ldap", "livescript", "magnet", "mailto",
        "market", "mhtml", "microsoft-edge", "mid", "moz-extension", "news", "nntp", "res", "resource", "rtsp",
        "search-ms", "sftp", "shortcuts", "sip", "sips", "smb", "sms", "smsto", "ssh", "steam", "svn", "tel",
        "telnet", "telprompt", "urn", "vbscript", "view-source", "webcal", "webcals", "ws", "wss", "wyciwyg", "xmpp",
    ]

    /// Accepts a URI: `https`, `http` to a loopback host, a private scheme that is a reversed domain, or one without a
    /// dot, which only clients of the profile `compatible` may register, since two apps may have chosen the same.
    ///
    /// It has no user, no fragment and no wildcard. Spec: RFC 8252 §7.1, §8.4.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.utf8.contains(UInt8(ascii: "#")), !text.utf8.contains(UInt8(ascii: "*")),
            let url = URLComponents(string: text), url.string?.hasSameBytes(as: text) == true, url.user == nil,
            url.password == nil, let scheme = url.scheme, scheme.hasSameBytes(as: scheme.lowercased())
        else { return nil }
        let host = url.host ?? ""
        switch scheme {
        case "https" where !host.isEmpty: kind = .https
        case "http" where ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host): kind = .loopback
        case _ where scheme.utf8.contains(UInt8(ascii: ".")) && host.isEmpty && text.hasPrefix("\(scheme):/"):
            // One slash: what follows is a path, and no host. Spec: RFC 8252 §7.1.
            kind = .privateScheme
        case _
        where !scheme.utf8.contains(UInt8(ascii: ".")) && scheme.utf8.count > 1
            && !["http", "ms-", "x-"].contains(where: scheme.hasPrefix) && !Self.knownSchemes.contains(scheme)
            && text.hasPrefix("\(scheme):/"):
            kind = .bareScheme
        default: return nil
        }
        description = text
    }

    /// The host or, of an app, the scheme: what the audit names.
    package var place: String {
        let url = URLComponents(string: description)
        return (kind.isScheme ? url?.scheme : url?.host) ?? ""
    }

    /// The origin of the page or the listener, as browsers write it; nil for an app's scheme.
    ///
    /// Spec: RFC 6454 §6.2.
    package var origin: String? {
        guard !kind.isScheme, let url = URLComponents(string: description), let scheme = url.scheme,
            let host = url.host?.lowercased()
        else { return nil }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let usual = scheme == "https" ? 443 : 80
        return "\(scheme)://\(name)" + (url.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? "")
    }

    /// The web site to which it leads, for whoever goes back by hand; nil for an app, or a program on this machine.
    package var site: String? { kind == .https ? origin.map { "\($0)/" } : nil }

    /// Whether a request may name this URI so.
    ///
    /// The bytes must be the same. Only the port of an app's loopback address is free, because the app takes the one
    /// that it gets. The host `localhost` has no free port: it may lead elsewhere. Spec: RFC 8252 §7.3, §8.3.
    ///
    /// - Parameters:
    ///   - text: the URI of the request.
    ///   - isApp: whether the client is an app.
    package func allows(_ text: String, isApp: Bool) -> Bool {
        if description.hasSameBytes(as: text) { return true }
        guard isApp, kind == .loopback, let named = RedirectURI(text), named.kind == .loopback else { return false }
        guard let (host, rest) = parts, let (otherHost, otherRest) = named.parts else { return false }
        // check: RedirectURITests.allows
        guard host != "localhost", host.hasSameBytes(as: otherHost), rest.hasSameBytes(as: otherRest) else {
            return false
        }
        return true
    }

    /// The host, and everything after the port.
    private var parts: (host: String, rest: String)? {
        let pattern = #/http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::[0-9]*)?(.*)/#
        return description.wholeMatch(of: pattern).map { (String($0.output.1), String($0.output.2)) }
    }
}
