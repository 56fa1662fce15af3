import HTTPTypes
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// A head that is no request; the text says why.
struct MalformedRequest: Error, Hashable, CustomStringConvertible {
    let description: String
}

extension HTTPRequest {
    /// Reads a head as the standard has it.
    ///
    /// - Throws: ``MalformedRequest`` for a field Host that is missing, repeated or malformed, and for a target that is
    ///   neither a path nor a URL.
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

    /// What stands for a request that could not be read: alone of all it has no path.
    static func unreadable(_ method: HTTPRequest.Method = .get, _ fault: MalformedRequest) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: nil, authority: nil, path: nil, headerFields: [.whyUnreadable: fault.description])
    }

    /// Why it could not be read; nil when it could.
    var fault: MalformedRequest? {
        path == nil ? MalformedRequest(description: headerFields[.whyUnreadable] ?? "") : nil
    }

    /// The host, where the target names it, and the path with its query.
    ///
    /// The host of a URL goes over that of the field. Spec: RFC 9112 §3.2.1, §3.2.2, §3.2.4.
    private static func parts(of target: String) -> (authority: String?, path: String)? {
        // Visible ASCII alone, and no fragment: everything else is percent-encoded. Spec: RFC 3986 §2.
        guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else { return nil }
        if target.hasPrefix("/") || target == "*" { return (nil, target) }
        guard let url = target.wholeMatch(of: #/(?i:https?):\/\/([^\/?]+)(.*)/#)?.output, isAuthority(String(url.1))
        else { return nil }
        return (String(url.1), url.2.hasPrefix("/") ? String(url.2) : "/\(url.2)")
    }

    /// A host with or without a port, as a URI has it.
    ///
    /// Spec: RFC 3986 §3.2.2, §3.2.3.
    private static func isAuthority(_ text: String) -> Bool {
        text.wholeMatch(of: #/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~%!$&'()*+,;=]*)(:[0-9]*)?/#) != nil
    }
}

extension HTTPField.Name {
    fileprivate static let whyUnreadable = known("Why-Unreadable")
}
