import AsyncHTTPClient
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1

/// The reply of a push service, of its token endpoint, or of a text message gateway.
struct ServiceReply: Sendable {
    /// How long a service may take to reply.
    static let timeout = TimeAmount.seconds(15)
    let status: UInt
    let content: [UInt8]
    /// The body as JSON; nil if it is not JSON.
    let json: JSONValue?
    private let retryAfter: Seconds?

    /// Sends a request and reads the reply; a body of more than `maximumSize` bytes is an error.
    init(
        to request: HTTPClientRequest, by client: HTTPClient, timeout: TimeAmount = Self.timeout,
        maximumSize: Int = 16_384
    ) async throws {
        let reply = try await client.reply(to: request, within: timeout, maximumSize: maximumSize)
        content = reply.content
        status = reply.head.status.code
        json = try? JSONValue(parsing: content)
        retryAfter = reply.head.headers.first(name: "retry-after").flatMap { Int64($0) }.map { Seconds($0) }
    }

    /// Creates a reply without a body.
    init(status: UInt) {
        self.status = status
        (content, json, retryAfter) = ([], nil, nil)
    }

    /// The earliest time of the next attempt, at most an hour from now; nil when it is not limited.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - pause: the pause when the service named none.
    func retryTime(at now: Timestamp, orAfter pause: Seconds? = nil) -> Timestamp? {
        (retryAfter.map { min(max(0, $0), .hours(1)) } ?? pause).map { now.adding($0) }
    }

    /// A service's error code, reduced to characters that are safe in a log.
    static func printable(_ word: String?) -> String {
        guard let word else { return "without a reason" }
        return String(
            String.UnicodeScalarView(
                word.unicodeScalars.prefix(64).filter { $0.isASCII && ($0.properties.isAlphabetic || $0 == "_") }))
    }
}

/// A reply of which everything is there.
struct WholeReply: Sendable {
    /// The status and the fields; its body is read already.
    let head: HTTPClientResponse
    let content: [UInt8]
}

extension HTTPClient {
    /// Sends a request and reads the whole reply within a time.
    ///
    /// The client's own deadline ends with the head of a reply, and its other timeout begins anew with each byte: whoever
    /// sends a body byte by byte could otherwise hold the caller for hours.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - time: how long it may take until the last byte is there.
    ///   - maximumSize: how many bytes the body may have.
    /// - Throws: `HTTPClientError.deadlineExceeded` when the time is over, and whatever else goes wrong.
    func reply(
        to request: HTTPClientRequest, within time: TimeAmount, maximumSize: Int
    ) async throws -> WholeReply {
        let deadline = NIODeadline.now() + time
        return try await withThrowingTaskGroup(of: WholeReply.self) { group in
            group.addTask {
                let head = try await self.execute(request, deadline: deadline)
                let content = Array(try await head.body.collect(upTo: maximumSize).readableBytesView)
                return WholeReply(head: head, content: content)
            }
            group.addTask {
                try await _Concurrency.Task.sleep(for: .nanoseconds(time.nanoseconds))
                throw HTTPClientError.deadlineExceeded
            }
            // What is still read is cut off, and the connection with it.
            defer { group.cancelAll() }
            guard let reply = try await group.next() else { throw HTTPClientError.deadlineExceeded }
            return reply
        }
    }
}
