import CountersignCore
import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A request as the routes see it: body collected, query taken apart, nothing believed.
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

    /// The whole body; who hangs up in the middle of it made a bad request, and is no fault of the server's.
    private static func body(of request: inout Request) async throws -> [UInt8] {
        do {
            return Array(try await request.collectBody(upTo: maximumBodySize).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw ProblemDetails(.bodyTooLarge)
        } catch is BodyTooSlow {
            throw ProblemDetails(.bodyTooSlow)
        } catch let error where !(error is CancellationError) {
            throw ProblemDetails(.malformedJSON, detail: "the body did not arrive whole")
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

    /// The body as JSON.
    ///
    /// A body must say that it is JSON: then no page of another site can have a browser send it without asking first.
    /// Spec: RFC 9110 §15.5.16.
    func json() throws -> JSONValue {
        guard body.isEmpty || saysJSON else { throw ProblemDetails(.unsupportedMediaType) }
        return try JSONValue(parsing: body)
    }

    /// The body of a request that may come without one.
    func optionalJSON() throws -> JSONValue { body.isEmpty ? .members([:]) : try json() }

    /// Whether the body is said to be JSON, and not to be compressed; parameters of the type mean nothing.
    ///
    /// Spec: RFC 8259 §11.
    private var saysJSON: Bool {
        let type = headers[.contentType]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let coding = headers[.contentEncoding]?.lowercased() ?? "identity"
        return type == "application/json" && coding == "identity"
    }

    /// A part of the path, or nil when it is not well-formed.
    func parameter(_ name: String) -> String? {
        context.parameters.get(name).flatMap { Self.decoded($0[...]) }
    }

    /// A text with its percent-encodings decoded, or nil when they are malformed.
    ///
    /// Spec: RFC 3986 §2.1.
    static func decoded(_ text: Substring) -> String? {
        // Most have none, and are told so faster.
        text.utf8.contains(UInt8(ascii: "%")) ? String(text).removingPercentEncoding : String(text)
    }

    /// A part of the path that names something; what it cannot name is not there.
    func id<Kind>(_ name: String, orElse code: ProblemCode) throws(ProblemDetails) -> ID<Kind> {
        guard let id = parameter(name).flatMap({ ID<Kind>($0) }) else { throw ProblemDetails(code) }
        return id
    }

    /// The user the path names.
    func user() throws(ProblemDetails) -> UserReference {
        guard let user = parameter("user").flatMap({ UserReference($0) }) else { throw ProblemDetails(.userNotFound) }
        return user
    }

    /// Refuses a query parameter nobody knows.
    func refuseParameters(besides known: [String]) throws(ProblemDetails) {
        for name in query.keys.sorted() where !known.contains(where: { $0.hasSameBytes(as: name) }) {
            throw ProblemDetails(
                .invalidParameter, detail: "\(name) is not known", members: ["parameter": .string(name)])
        }
    }

    /// For how many seconds to wait, or nil not to.
    func wait() throws(ProblemDetails) -> Int64? {
        guard let text = query["wait"] else { return nil }
        guard let seconds = Int64(text), (0...60).contains(seconds) else {
            throw ProblemDetails(
                .invalidParameter, detail: "wait must be a whole number from 0 to 60", members: ["parameter": "wait"])
        }
        return seconds == 0 ? nil : seconds
    }

    /// The idempotency key, scoped to the caller and the route.
    func idempotencyKey(of caller: ClientID, _ hasher: KeyedHasher) throws(ProblemDetails) -> IdempotencyKey? {
        guard let key = headers[.idempotencyKey] else { return nil }
        let scope = "\(caller) \(method.rawValue) \(target)"
        guard let key = IdempotencyKey(scope: scope, key: key, body: body, hasher) else {
            throw ProblemDetails(.invalidIdempotencyKey)
        }
        return key
    }

    private static func query(of target: String) throws(ProblemDetails) -> [String: String] {
        guard let mark = target.firstIndex(of: "?") else { return [:] }
        var query: [String: String] = [:]
        for part in target[target.index(after: mark)...].split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]), let value = pair.count == 2 ? Self.decoded(pair[1]) : "",
                query.updateValue(value, forKey: name) == nil
            else { throw ProblemDetails(.invalidParameter, detail: "the query is malformed") }
        }
        return query
    }
}
