import Encodings

/// The public base URL of a deployment, OpenID's `iss`: `https://host[:port]`, compared byte for byte.
///
/// Plain `http` is allowed only for a loopback host.
public struct Issuer: Hashable, Sendable, CustomStringConvertible {
    /// The URL, without a final slash.
    public let description: String
    /// The host as written in the URL and in the user IDs of certificates; it is never decoded, so that it has the same
    /// bytes on every platform.
    public let host: String

    /// Reads an issuer; nil for another scheme, a path, query, fragment or user, an invalid port, or a host that is
    /// neither an IPv6 address in brackets nor made of lower case letters, digits, `.`, `-` and `_`.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        let scheme = ["https://", "http://"].first { text.utf8.starts(with: $0.utf8) }
        guard let scheme, let host = Self.host(ofAuthority: text.utf8.dropFirst(scheme.utf8.count)),
            scheme == "https://" || Self.isLoopback(host)
        else { return nil }
        description = text
        self.host = host
    }

    /// The host of `host[:port]`, or nil.
    ///
    /// Spec: RFC 3986 §3.2.
    private static func host(ofAuthority authority: Substring.UTF8View) -> String? {
        let host: Substring.UTF8View
        if authority.first == UInt8(ascii: "[") {
            guard let closing = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = authority[...closing]
            let address = host.dropFirst().dropLast()
            guard !address.isEmpty, address.allSatisfy(isPartOfAddress) else { return nil }
        } else {
            host = authority.prefix { $0 != UInt8(ascii: ":") }
            guard let first = host.first, isLetterOrDigit(first), host.allSatisfy(isPartOfName) else { return nil }
        }
        guard isPortOrNothing(authority[host.endIndex...]) else { return nil }
        return String(Substring(host))
    }

    /// Whether a text is empty, or a colon and a number from 1 to 65535 without leading zeros.
    private static func isPortOrNothing(_ text: Substring.UTF8View) -> Bool {
        guard let first = text.first else { return true }
        let digits = Substring(text.dropFirst())
        guard first == UInt8(ascii: ":"), let port = UInt16(digits), port > 0 else { return false }
        return "\(port)".hasSameBytes(as: digits)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func isPartOfAddress(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }

    /// Whether the host is this machine.
    public var isLoopback: Bool { Self.isLoopback(host) }

    /// Whether a host of a URL is this machine.
    package static func isLoopback(_ host: String) -> Bool {
        ["localhost", "127.0.0.1", "[::1]"].contains(host)
    }

    /// The absolute URI of a path with its query, which HTTP signatures cover.
    public func uri(_ pathAndQuery: String) -> String { description + pathAndQuery }
}
