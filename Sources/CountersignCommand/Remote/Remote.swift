import AsyncHTTPClient
import CountersignServer
import CountersignWire
import Encodings
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A connection to a server's API for relying parties and operators, over plain HTTP and JSON, as any other program
/// would use it.
struct Remote: Sendable {
    private static let maximumReply = 4 * 1024 * 1024
    private let client: HTTPClient
    private let url: String
    private let credential: RemoteOptions.Credential

    /// Runs an operation with a connection, and closes the connection afterwards.
    static func with<Result: Sendable>(
        url: String, credential: RemoteOptions.Credential, _ body: (Remote) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // Without retries, a person learns at once that no server is there, and not after ten seconds.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Longer than the longest wait, and several of a stream's heartbeats.
        configuration.timeout.read = .seconds(90)
        TrustRoots.apply(to: &configuration)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let remote = Remote(
            client: client, url: url.hasSuffix("/") ? String(url.dropLast()) : url, credential: credential)
        do {
            let result = try await body(remote)
            try await client.shutdown()
            return result
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    /// Sends a request and returns the JSON of a success.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: path and query; see ``escaped(_:)``.
    ///   - body: the body.
    ///   - key: an idempotency key.
    ///   - waiting: how many seconds the server may hold the request.
    @discardableResult
    func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, idempotency key: String? = nil,
        waiting: Int64 = 0
    ) async throws -> JSONValue {
        let bytes = try await bytes(method, path, body, idempotency: key, waiting: waiting)
        guard !bytes.isEmpty else { return .null }
        guard let json = try? JSONValue(parsing: bytes) else {
            throw CommandError("\(url) did not answer with JSON. Is it a Countersign server?", .unreachable)
        }
        return json
    }

    /// Whether the connection uses an operator's token.
    var isOperator: Bool {
        if case .token = credential { true } else { false }
    }

    /// All entries of a paged list, or a given number of them; the list is named by its member.
    ///
    /// A page may be empty and have a successor. The last page has no cursor, or the cursor of its own request.
    func all(
        _ member: String, of path: String, _ query: [String] = [], atMost limit: Int = .max
    ) async throws -> [JSONValue] {
        var all: [JSONValue] = []
        var cursor: String?
        while true {
            let parts = query + (cursor.map { ["cursor=\($0)"] } ?? [])
            let page = try await call(.GET, parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))")
            all += page[member]?.array ?? []
            guard let next = page["cursor"]?.string, next != cursor, all.count < limit else {
                return Array(all.prefix(limit))
            }
            cursor = next
        }
    }

    /// Passes on the lines of a reply as they arrive, however many there are; its head must arrive in half a minute.
    func lines(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, idempotency key: String? = nil,
        accept: String? = nil, _ line: (String) -> Void
    ) async throws {
        var request = request(method, path, body, idempotency: key)
        if let accept { request.headers.add(name: "accept", value: accept) }
        do {
            let response = try await client.execute(request, timeout: .seconds(30))
            guard (200..<300).contains(response.status.code) else {
                let bytes = Array(try await response.body.collect(upTo: Self.maximumReply).readableBytesView)
                throw refusal(response.status, bytes)
            }
            var rest: [UInt8] = []
            for try await buffer in response.body {
                rest += buffer.readableBytesView
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeFirst(end + 1)
                }
            }
        } catch let error where !(error is CancellationError || error is CommandError || error is ProblemDetails) {
            throw unreachable(error)
        }
    }

    /// Sends a request and returns the body of a success.
    func bytes(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, idempotency key: String? = nil,
        waiting: Int64 = 0
    ) async throws -> [UInt8] {
        let request = request(method, path, body, idempotency: key)
        let response: HTTPClientResponse
        let bytes: [UInt8]
        do {
            (response, bytes) = try await ProgressLine.during("Waiting for \(url)") { [client] in
                let response = try await client.execute(request, timeout: .seconds(30 + waiting))
                return (response, Array(try await response.body.collect(upTo: Self.maximumReply).readableBytesView))
            }
        } catch let error where !(error is CancellationError) {
            throw unreachable(error)
        }
        guard (200..<300).contains(response.status.code) else { throw refusal(response.status, bytes) }
        return bytes
    }

    private func request(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue?, idempotency key: String?
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        request.headers.add(name: "authorization", value: credential.header)
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(body.encoded)
        }
        if let key { request.headers.add(name: "idempotency-key", value: key) }
        return request
    }

    /// The error of a reply that is no success.
    private func refusal(_ status: HTTPResponseStatus, _ body: [UInt8]) -> any Error {
        if let json = try? JSONValue(parsing: body), let problem = ProblemDetails(json) { return problem }
        return CommandError("\(url) answered \(status). Is it a Countersign server?", .unreachable)
    }

    /// The error of a request without a reply.
    private func unreachable(_ error: any Error) -> CommandError {
        // Names that do not resolve and connections that are refused each throw another kind of error.
        let reason = (error as? HTTPClientError)?.shortDescription ?? "\(error)"
        return CommandError("\(url) cannot be reached: \(reason). Is the server running?", .unreachable)
    }

    /// The parts of a query for the filters that have a value.
    static func query(_ filters: [(String, String?)]) -> [String] {
        filters.compactMap { name, value in value.map { "\(name)=\(escaped($0))" } }
    }

    /// A text as one segment of a path.
    static func escaped(_ text: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~:")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
    }

    /// A user in the API's form: an id as it is, anything else as the client's own name.
    static func user(_ text: String) -> String {
        UserID(text) != nil || text.hasPrefix("external_id:") ? text : "external_id:\(text)"
    }
}
