import AsyncHTTPClient
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1

/// What a push service, who gives tokens for it, or a gateway for text messages has answered.
struct ServiceReply: Sendable {
    /// How long a service may take.
    static let timeout = TimeAmount.seconds(15)
    let status: UInt
    /// The body.
    let content: [UInt8]
    /// The body, when it is JSON.
    let json: JSONValue?
    private let retryAfter: Int64?

    /// Sends a request and reads the answer, of at most so many bytes.
    init(to request: HTTPClientRequest, by client: HTTPClient, maximumSize: Int = 16_384) async throws {
        let response = try await client.execute(request, timeout: Self.timeout)
        content = Array(try await response.body.collect(upTo: maximumSize).readableBytesView)
        status = response.status.code
        json = try? JSONValue(parsing: content)
        retryAfter = response.headers.first(name: "retry-after").flatMap { Int64($0) }
    }

    /// An answer without a body.
    init(status: UInt) {
        self.status = status
        (content, json, retryAfter) = ([], nil, nil)
    }

    /// From when on to try again, within an hour; nil when nothing was said of it.
    ///
    /// - Parameters:
    ///   - now: the present.
    ///   - pause: how many seconds to wait when the service does not say.
    func retryTime(at now: Timestamp, orAfter pause: Int64? = nil) -> Timestamp? {
        (retryAfter.map { min(max(0, $0), 3600) } ?? pause).map { now.adding(seconds: $0) }
    }

    /// A word of a service as it may stand in a log.
    static func printable(_ word: String?) -> String {
        guard let word else { return "without a reason" }
        return String(
            String.UnicodeScalarView(
                word.unicodeScalars.prefix(64).filter { $0.isASCII && ($0.properties.isAlphabetic || $0 == "_") }))
    }
}
