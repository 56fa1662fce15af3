package import AsyncHTTPClient
import CountersignCore
import CountersignWire
import Encodings
import NIOHTTP1

/// Sends pushes to programs on the server's own machine, so that they can be tried without a phone.
///
/// Only in development mode; otherwise no device can register for it.
package struct LocalPushSender: Sendable {
    private let post: @Sendable (HTTPClientRequest) async throws -> UInt

    package init(client: HTTPClient) {
        self.init { try await client.execute($0, timeout: ServiceReply.timeout).status.code }
    }

    /// Creates a sender over a function that posts a request and returns the response's status.
    package init(post: @escaping @Sendable (HTTPClientRequest) async throws -> UInt) {
        self.post = post
    }

    func send(_ order: AnnounceChallenge.Order) async -> DeliveryResult {
        guard let address = LocalPushAddress(order.registration.token.reveal()) else {
            return .refused("the registration names no port and path")
        }
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(address.port)/\(address.path)")
        request.method = .POST
        request.headers = ["content-type": "application/json"]
        request.body = .bytes(order.payload.encoded)
        do {
            let status = try await post(request)
            switch status {
            case 200..<300: return .delivered
            case 404, 410: return .unregistered("the program answered \(status)", order.target)
            default: return .failed("the program answered \(status)")
            }
        } catch {
            return .failed("the program: \(words(of: error))")
        }
    }
}
