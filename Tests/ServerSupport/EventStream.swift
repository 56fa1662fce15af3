import AsyncHTTPClient
import CountersignWire
package import Encodings
import NIOCore
import NIOHTTP1

/// One block of an event stream.
package struct ServerEvent: Hashable, Sendable {
    /// The field `id`.
    package let id: String?
    /// The field `event`; nil for a comment.
    package let name: String?
    /// The field `data`.
    package let data: JSONValue?

    /// Parses a block, and checks its data against the OpenAPI document.
    init(_ block: some StringProtocol) throws {
        func field(_ name: String) -> String? {
            block.split(separator: "\n").first { $0.hasPrefix("\(name): ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
        id = field("id")
        name = field("event")
        data = try field("data").map { try JSONValue(parsing: Array($0.utf8)) }
        guard let data else { return }
        let schema = name == "asked" ? "AskedChallenge" : "Challenge"
        let faults = Contract.served.checker.faults(in: data, by: ["$ref": .string("#/components/schemas/\(schema)")])
        guard faults.isEmpty else { throw UnexpectedReply(description: "\(faults.joined(separator: "; "))\n\(block)") }
    }
}

/// The server-sent events as they arrive; it can be read only once.
package struct EventStream: AsyncSequence, Sendable {
    package typealias Element = ServerEvent
    package typealias Failure = any Error

    /// The header fields of the reply, by lower-case names.
    package let headers: [String: String]
    private let events: AsyncThrowingStream<ServerEvent, any Error>

    init(_ response: HTTPClientResponse, at route: String, of server: TestServer) {
        headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
        events = AsyncThrowingStream { continuation in
            let reading = Task {
                do {
                    var text = ""
                    for try await buffer in response.body {
                        server.watch.note(route, "\(route), an event", Array(buffer.readableBytesView))
                        text += String(decoding: buffer.readableBytesView, as: UTF8.self)
                        while let end = text.firstRange(of: "\n\n") {
                            continuation.yield(try ServerEvent(text[..<end.lowerBound]))
                            text.removeSubrange(..<end.upperBound)
                        }
                    }
                    guard text.isEmpty else { throw UnexpectedReply(description: "half an event: \(text)") }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    package func makeAsyncIterator() -> AsyncThrowingStream<ServerEvent, any Error>.Iterator {
        events.makeAsyncIterator()
    }
}

extension Caller {
    /// Opens an event stream for the body.
    ///
    /// - Parameters:
    ///   - path: the path.
    ///   - posted: the body of a `POST`; nil for a `GET`.
    ///   - key: the idempotency key.
    ///   - body: is given the stream.
    /// - Throws: ``UnexpectedReply`` if the server returns no stream, or if an event does not match the OpenAPI
    ///   document.
    package func stream<Result: Sendable>(
        _ path: String, posting posted: JSONValue? = nil, key: String? = nil,
        _ body: (EventStream) async throws -> Result
    ) async throws -> Result {
        var request = HTTPClientRequest(url: server.address.uri(path))
        request.method = posted == nil ? .GET : .POST
        request.headers.add(name: "Authorization", value: authorization)
        request.headers.add(name: "Accept", value: "text/event-stream")
        if let key { request.headers.add(name: "Idempotency-Key", value: key) }
        if let posted {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(posted.encoded)
        }
        let response = try await TestHTTP.client.execute(request, timeout: .seconds(90))
        guard response.status == (posted == nil ? .ok : .created) else {
            throw UnexpectedReply(description: "\(path): \(response.status)")
        }
        return try await body(EventStream(response, at: "\(request.method) \(path)", of: server))
    }
}
