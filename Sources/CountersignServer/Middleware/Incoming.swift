import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A request as a door receives it, with its body collected and its query parsed; nothing in it is authenticated yet.
struct Incoming: Sendable {
    /// The maximum size of a body, in bytes.
    ///
    /// Spec: docs/protocol/requests.md, *Transport*.
    static let maximumBodySize = 256 * 1024

    let method: HTTPRequest.Method
    /// The path and the query as they arrived.
    let target: String
    let headers: HTTPFields
    /// The host and port to which the sender addressed the request.
    private let authority: String?
    let body: [UInt8]
    let context: ServerContext
    /// The query parameters by name.
    let query: [String: String]

    /// Reads a request with its body.
    ///
    /// - Throws: ``RequestFailure``, or `CancellationError`.
    init(_ request: Request, _ context: ServerContext) async throws {
        method = request.method
        target = request.head.path ?? "/"
        headers = request.headers
        authority = request.head.authority
        self.context = context
        query = try Self.query(of: target)
        var request = request
        body = try await Self.body(of: &request)
        // Only now, so that callers who are slow to send take no place.
        try context.place.take(for: target)
    }

    /// Reads the whole body; if the caller hangs up meanwhile, that is a bad request and not a fault of the server.
    private static func body(of request: inout Request) async throws -> [UInt8] {
        do {
            return Array(try await request.collectBody(upTo: maximumBodySize).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw RequestFailure.bodyTooLarge
        } catch is BodyTooSlow {
            throw RequestFailure.bodyTooSlow
        } catch let error where !(error is CancellationError) {
            throw RequestFailure.bodyIncomplete
        }
    }

    /// Whether the caller is on this machine and no proxy has forwarded the request.
    ///
    /// A proxy that adds none of these fields looks like a local caller, so such a proxy must not forward `/v1/admin`.
    var isFromThisMachine: Bool {
        context.isFromLoopback
            && ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"].allSatisfy { name in
                HTTPField.Name(name).map { headers[$0] == nil } ?? true
            }
    }

    /// Whether the request names this machine as loopback.
    ///
    /// This refuses DNS rebinding: a browser sends the name by which it found the server, even if another site's name
    /// leads here.
    var namesLoopback: Bool { authority.flatMap { Issuer("http://\($0)") }?.isLoopback == true }

    /// A parameter of the path; nil if its percent-encoding is malformed.
    func parameter(_ name: String) -> String? {
        context.parameters.get(name).flatMap { Self.decoded($0[...]) }
    }

    /// Whether the content type is this media type and the body is not compressed; parameters of the type are ignored.
    func hasContent(_ type: String) -> Bool {
        guard let stated = headers[.contentType], headers[.contentEncoding]?.lowercased() ?? "identity" == "identity"
        else { return false }
        // Most callers say just that.
        return stated == type
            || stated.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased() == type
    }

    /// Whether the caller prefers a media type to JSON: names it, and JSON not at all or with a smaller weight.
    ///
    /// Ranges such as `*/*` name neither. Spec: RFC 9110 §12.5.1.
    func prefers(_ type: String) -> Bool { weight(of: type) > weight(of: "application/json") }

    /// The greatest weight that the caller gives to a media type by its name; 0 if it does not name it.
    private func weight(of type: String) -> Double {
        let ranges = headers[values: .accept].flatMap { $0.split(separator: ",") }
        let weights = ranges.compactMap { range -> Double? in
            let parts = range.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            guard parts.first == type else { return nil }
            guard let weight = parts.dropFirst().first(where: { $0.hasPrefix("q=") }) else { return 1 }
            return Double(weight.dropFirst(2)) ?? 0
        }
        return weights.max() ?? 0
    }

    /// A text after percent-decoding; nil if it is malformed.
    ///
    /// Spec: RFC 3986 §2.1.
    static func decoded(_ text: Substring) -> String? {
        // Most texts contain no percent sign, and this check is faster than decoding.
        text.utf8.contains(UInt8(ascii: "%")) ? String(text).removingPercentEncoding : String(text)
    }

    /// The id and the secret after the word Basic, each of which was form-encoded before they were joined; nil if they
    /// are malformed.
    ///
    /// Spec: RFC 6749 §2.3.1.
    static func basicCredentials(_ encoded: Substring) -> (id: String, secret: Secret<String>)? {
        guard let joined = Base64.decode(encoded).flatMap({ String(strictUTF8: $0) }),
            let colon = joined.utf8.firstIndex(of: UInt8(ascii: ":")), let id = decoded(joined[..<colon]),
            let secret = decoded(joined[joined.utf8.index(after: colon)...])
        else { return nil }
        return (id, Secret(secret))
    }

    /// What follows the question mark of a target; empty if there is none.
    static func queryText(of target: String) -> Substring {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return "" }
        return target[target.utf8.index(after: mark)...]
    }

    private static func query(of target: String) throws(RequestFailure) -> [String: String] {
        guard let fields = FormText.fields(in: queryText(of: target), plus: UInt8(ascii: "+")) else {
            throw .malformedQuery
        }
        var query: [String: String] = [:]
        for (name, value) in fields {
            let isRepeatable = name == FormFields.repeatable || name == CotterPageRequest.channels
            guard query.updateValue(value, forKey: name) == nil || isRepeatable else {
                throw .malformedQuery
            }
        }
        return query
    }
}
