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
    init(to request: HTTPClientRequest, by client: HTTPClient, maximumSize: Int = 16_384) async throws {
        let response = try await client.execute(request, timeout: Self.timeout)
        content = Array(try await response.body.collect(upTo: maximumSize).readableBytesView)
        status = response.status.code
        json = try? JSONValue(parsing: content)
        retryAfter = response.headers.first(name: "retry-after").flatMap { Int64($0) }.map { Seconds($0) }
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
