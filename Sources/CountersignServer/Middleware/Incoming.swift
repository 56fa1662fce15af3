import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A request as the doors see it: body collected, query taken apart, nothing believed.
struct Incoming: Sendable {
    /// The most bytes a body may have.
    ///
    /// Spec: design 4.
    static let maximumBodySize = 256 * 1024

    let method: HTTPRequest.Method
    /// Path and query, as they arrived.
    let target: String
    let headers: HTTPFields
    /// The host and port the request is for, as its sender says.
    private let authority: String?
    let body: [UInt8]
    let context: ServerContext
    /// Query parameters, by name.
    let query: [String: String]

    /// Reads a request.
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
    }

    /// The whole body; a caller who hangs up in the middle of it made a bad request, and is no fault of the server's.
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

    /// Whether the caller is on this machine, and no proxy passed the request on for somebody else.
    ///
    /// A proxy that adds none of these fields cannot be told from a local caller: it must not pass `/v1/admin` on.
    var isFromThisMachine: Bool {
        context.isFromLoopback
            && ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"].allSatisfy { name in
                HTTPField.Name(name).map { headers[$0] == nil } ?? true
            }
    }

    /// Whether the request is for this machine by one of its own names.
    ///
    /// A browser says by what name it found the server: that of another site which leads here is another.
    var namesLoopback: Bool { authority.flatMap { Issuer("http://\($0)") }?.isLoopback == true }

    /// A part of the path, or nil when it is not well-formed.
    func parameter(_ name: String) -> String? {
        context.parameters.get(name).flatMap { Self.decoded($0[...]) }
    }

    /// Whether the body is said to be of a media type, and not to be compressed; parameters of the type mean nothing.
    func hasContent(_ type: String) -> Bool {
        let stated = headers[.contentType]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let coding = headers[.contentEncoding]?.lowercased() ?? "identity"
        return stated == type && coding == "identity"
    }

    /// A text with its percent-encodings decoded, or nil when they are malformed.
    ///
    /// Spec: RFC 3986 §2.1.
    static func decoded(_ text: Substring) -> String? {
        // Most have none, and are told so faster.
        text.utf8.contains(UInt8(ascii: "%")) ? String(text).removingPercentEncoding : String(text)
    }

    private static func query(of target: String) throws(RequestFailure) -> [String: String] {
        guard let mark = target.firstIndex(of: "?") else { return [:] }
        var query: [String: String] = [:]
        for part in target[target.index(after: mark)...].split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]), let value = pair.count == 2 ? Self.decoded(pair[1]) : "",
                query.updateValue(value, forKey: name) == nil
            else { throw .malformedQuery }
        }
        return query
    }
}
