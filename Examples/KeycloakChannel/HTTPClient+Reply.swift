import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1

/// A reply with JSON; null if it has none.
struct Reply: Sendable {
    let status: Int
    let json: JSONValue

    var isSuccess: Bool { (200..<300).contains(status) }
}

extension HTTPClient {
    private static let mostBytes = 1 << 20

    /// The reply to a request.
    func reply(to request: HTTPClientRequest, within seconds: Int64) async throws -> Reply {
        let response = try await execute(request, timeout: .seconds(seconds))
        let body = Array(try await response.body.collect(upTo: Self.mostBytes).readableBytesView)
        return Reply(status: Int(response.status.code), json: (try? JSONValue(parsing: body)) ?? .null)
    }
}
