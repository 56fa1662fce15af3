import Encodings
import Foundation

/// The public base URL of a deployment, OpenID's `iss`: `https://host[:port]`, compared byte for byte.
///
/// Plain `http` is allowed for a loopback host alone.
public struct Issuer: Hashable, Sendable, CustomStringConvertible {
    /// The URL, without a final slash.
    public let description: String
    /// The host, which stands in the user IDs of certificates.
    public let host: String

    /// Reads an issuer, or nil: another scheme, a path, query, fragment or user, upper case letters in the host.
    public init?(_ text: some StringProtocol) {
        guard let url = URLComponents(string: String(text)), let host = url.host, !host.isEmpty,
            url.path.isEmpty, url.query == nil, url.fragment == nil, url.user == nil, url.password == nil,
            host.hasSameBytes(as: host.lowercased()),
            url.scheme == "https" || (url.scheme == "http" && Self.isLoopback(host)),
            url.string?.hasSameBytes(as: text) == true
        else { return nil }
        description = String(text)
        self.host = host
    }

    /// Whether the host is this machine's own.
    public var isLoopback: Bool { Self.isLoopback(host) }

    private static func isLoopback(_ host: String) -> Bool {
        ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host)
    }

    /// The absolute URI of a path with its query, as HTTP signatures cover it.
    public func uri(_ pathAndQuery: String) -> String { description + pathAndQuery }
}
