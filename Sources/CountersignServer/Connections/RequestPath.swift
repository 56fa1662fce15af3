import Foundation

/// The form of the paths that can reach a route.
///
/// A proxy that blocks `/v1/admin` compares prefixes. So every path that a proxy could resolve to another path than
/// this server does is refused. Spec: RFC 3986 §3.3.
enum RequestPath {
    /// Whether no segment of a target's path is empty, `.` or `..`, be it literal or percent-encoded.
    ///
    /// `%2F` is data within a segment.
    static func isPlain(_ target: String) -> Bool {
        let slash = UInt8(ascii: "/")
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        guard path.first == slash else { return false }
        return path.dropFirst().split(separator: slash, omittingEmptySubsequences: false).allSatisfy { segment in
            guard let text = Incoming.decoded(Substring(segment)) else { return true }
            return !["", ".", ".."].contains(text)
        }
    }
}
