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
        _ member: String, of path: String, _ query: String? = nil, atMost limit: Int = .max
    ) async throws -> [JSONValue] {
        var all: [JSONValue] = []
        var cursor: String?
        while true {
            let parts = [query, cursor.map { "cursor=\($0)" }].compactMap { $0 }
            let page = try await call(.GET, parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))")
            all += page[member]?.array ?? []
            guard let next = page["cursor"]?.string, next != cursor, all.count < limit else {
                return Array(all.prefix(limit))
            }
            cursor = next
        }
    }

    /// Passes on the lines of a reply as they arrive, however many there are.
    func lines(_ path: String, _ body: (String) -> Void) async throws {
        var request = HTTPClientRequest(url: url + path)
        request.headers.add(name: "authorization", value: credential.header)
        do {
            let response = try await client.execute(request, timeout: .seconds(3600))
            guard response.status == .ok else {
                let bytes = Array(try await response.body.collect(upTo: Self.maximumReply).readableBytesView)
                if let json = try? JSONValue(parsing: bytes), let problem = ProblemDetails(json) { throw problem }
                throw CommandError("\(url) answered \(response.status). Is it a Countersign server?", .unreachable)
            }
            var rest: [UInt8] = []
            for try await buffer in response.body {
                rest += buffer.readableBytesView
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    body(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeFirst(end + 1)
                }
            }
        } catch let error where !(error is CancellationError || error is CommandError || error is ProblemDetails) {
            throw CommandError("\(url) cannot be reached: \(error). Is the server running?", .unreachable)
        }
    }

    /// Sends a request and returns the body of a success.
    func bytes(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, idempotency key: String? = nil,
        waiting: Int64 = 0
    ) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        request.headers.add(name: "authorization", value: credential.header)
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(body.encoded)
        }
        if let key { request.headers.add(name: "idempotency-key", value: key) }
        let response: HTTPClientResponse
        let bytes: [UInt8]
        do {
            (response, bytes) = try await ProgressLine.during("Waiting for \(url)") { [client, request] in
                let response = try await client.execute(request, timeout: .seconds(30 + waiting))
                return (response, Array(try await response.body.collect(upTo: Self.maximumReply).readableBytesView))
            }
        } catch let error as HTTPClientError {
            throw CommandError(
                "\(url) cannot be reached: \(error.shortDescription). Is the server running?", .unreachable)
        } catch let error where !(error is CancellationError) {
            // Names that do not resolve and connections that are refused each throw another kind of error.
            throw CommandError("\(url) cannot be reached: \(error). Is the server running?", .unreachable)
        }
        guard (200..<300).contains(response.status.code) else {
            if let json = try? JSONValue(parsing: bytes), let problem = ProblemDetails(json) { throw problem }
            throw CommandError("\(url) answered \(response.status). Is it a Countersign server?", .unreachable)
        }
        return bytes
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
