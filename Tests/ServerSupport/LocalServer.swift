package import Encodings
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// A request that a ``LocalServer`` has received.
package struct LocalRequest: Sendable {
    /// The method.
    package let method: String
    /// The path, without the query.
    package let path: String
    /// The header fields, by lower-case names.
    package let headers: [String: String]
    /// The body.
    package let body: [UInt8]
}

/// A server on a free local port that is not a Countersign server.
package enum LocalServer {
    /// Runs a body while the server gives every request the same reply.
    package static func with<Result: Sendable>(
        answering reply: JSONValue, status: Int = 200,
        _ body: @escaping @Sendable (_ url: String) async throws -> Result
    ) async throws -> Result {
        let responder = CallbackResponder<BasicRequestContext> { _, _ in
            Response(
                status: HTTPResponse.Status(code: status), headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: reply.encoded)))
        }
        return try await with(responder, body)
    }

    /// Runs a body while a function answers requests.
    ///
    /// - Parameters:
    ///   - reply: gets the server's own URL, the path and the body of a request.
    ///   - body: the body to run.
    package static func with<Result: Sendable>(
        replying reply:
            @escaping @Sendable (_ url: String, _ path: String, _ body: String) async throws -> (Int, JSONValue),
        _ body: @escaping @Sendable (_ url: String) async throws -> Result
    ) async throws -> Result {
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            var request = request
            let form = String(buffer: try await request.collectBody(upTo: 1 << 16))
            let (status, json) = try await reply("http://\(request.head.authority ?? "")", request.uri.path, form)
            return Response(
                status: HTTPResponse.Status(code: status), headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: json.encoded)))
        }
        return try await with(responder, body)
    }

    /// Runs a body while a function answers requests, of which it gets everything.
    package static func with<Result: Sendable>(
        taking reply: @escaping @Sendable (LocalRequest) async throws -> (Int, JSONValue),
        _ body: @escaping @Sendable (_ url: String) async throws -> Result
    ) async throws -> Result {
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            var request = request
            let received = try await request.collectBody(upTo: 1 << 16)
            let (status, json) = try await reply(
                LocalRequest(
                    method: request.method.rawValue, path: request.uri.path,
                    headers: Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }) { $1 },
                    body: Array(received.readableBytesView)))
            return Response(
                status: HTTPResponse.Status(code: status), headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: json.encoded)))
        }
        return try await with(responder, body)
    }

    /// Runs a body while a responder answers requests.
    static func with<Result: Sendable>(
        _ responder: some HTTPResponder<BasicRequestContext>,
        _ body: @escaping @Sendable (_ url: String) async throws -> Result
    ) async throws -> Result {
        let (ports, announce) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "local")
        logger.logLevel = .critical
        let application = Application(
            responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in announce.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await application.run()
                return nil
            }
            group.addTask {
                var iterator = ports.makeAsyncIterator()
                let port = await iterator.next() ?? 0
                return try await body("http://127.0.0.1:\(port)")
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }
}
