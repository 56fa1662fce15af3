import CountersignWire
import HTTPTypes
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// The head is not a valid request; the text says why.
struct MalformedRequest: Error, Hashable, CustomStringConvertible {
    let description: String
}

extension HTTPRequest {
    /// Validates a head according to the standard.
    ///
    /// - Throws: ``MalformedRequest`` if the field Host is missing, repeated or malformed, if the target is neither a
    ///   path nor a URL, or if the method is malformed.
    init(checked head: HTTPRequestHead) throws(MalformedRequest) {
        guard let method = try? HTTPRequest.Method(head.method) else {
            throw MalformedRequest(description: "the method is malformed")
        }
        let hosts = head.headers["Host"]
        // Spec: RFC 9112 §3.2.
        guard hosts.count == 1 || hosts.isEmpty && head.version == .http1_0 else {
            throw MalformedRequest(description: "there must be one field Host")
        }
        guard hosts.allSatisfy(Self.isAuthority) else { throw MalformedRequest(description: "Host is malformed") }
        guard let (authority, path) = Self.parts(of: head.uri) else {
            throw MalformedRequest(description: "the target of the request is malformed")
        }
        self.init(
            method: method, scheme: "http", authority: authority ?? hosts.first, path: path,
            headerFields: HTTPFields(head.headers, splitCookie: false))
    }

    /// A placeholder for a request that cannot be parsed; it is the only kind of request without a path.
    static func unreadable(_ method: HTTPRequest.Method = .get, _ fault: MalformedRequest) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: nil, authority: nil, path: nil, headerFields: [.whyUnreadable: fault.description])
    }

    /// Why the request could not be parsed; nil if it was parsed.
    var fault: MalformedRequest? {
        path == nil ? MalformedRequest(description: headerFields[.whyUnreadable] ?? "") : nil
    }

    /// Splits a target into the host, if the target has one, and the path with its query.
    ///
    /// The host in a URL overrides the field Host. Spec: RFC 9112 §3.2.1, §3.2.2, §3.2.4.
    private static func parts(of target: String) -> (authority: String?, path: String)? {
        // Only visible ASCII without a fragment is allowed; other characters are percent-encoded. Spec: RFC 3986 §2.
        guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else { return nil }
        if target.hasPrefix("/") || target == "*" { return (nil, target) }
        guard let url = target.wholeMatch(of: #/(?i:https?):\/\/([^\/?]+)(.*)/#)?.output, isAuthority(String(url.1))
        else { return nil }
        return (String(url.1), url.2.hasPrefix("/") ? String(url.2) : "/\(url.2)")
    }

    /// Whether a text is a host with an optional port, as in a URI.
    ///
    /// By hand, since a regular expression was a sixth of what a request cost. Spec: RFC 3986 §3.2.2, §3.2.3.
    private static func isAuthority(_ text: String) -> Bool {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = rest[..<end].dropFirst()
            guard !address.isEmpty,
                address.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { return false }
            rest = rest[end...].dropFirst()
        } else {
            rest = rest.drop { $0.isLetterOrDigit || "-._~%!$&'()*+,;=".utf8.contains($0) }
        }
        return rest.isEmpty
            || rest.first == UInt8(ascii: ":") && rest.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension HTTPField.Name {
    fileprivate static let whyUnreadable = known("Why-Unreadable")
}
