import Foundation

/// What the path of a request must look like to reach a route.
///
/// A proxy that bars `/v1/admin` compares beginnings. Whatever it may take for another path than we do is no path here.
/// Spec: RFC 3986 §3.3.
enum RequestPath {
    /// Whether a target's path has segments only that are neither empty nor dots, written plainly or percent-encoded.
    ///
    /// `%2F` is data inside of a segment.
    static func isPlain(_ target: String) -> Bool {
        let path = target.prefix { $0 != "?" }
        guard path.hasPrefix("/") else { return false }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { segment in
            guard let text = Incoming.decoded(segment) else { return true }
            return !["", ".", ".."].contains(text)
        }
    }
}
