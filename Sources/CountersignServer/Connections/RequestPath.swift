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
        let path = target.prefix { $0 != "?" }
        guard path.hasPrefix("/") else { return false }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { segment in
            guard let text = Incoming.decoded(segment) else { return true }
            return !["", ".", ".."].contains(text)
        }
    }
}
