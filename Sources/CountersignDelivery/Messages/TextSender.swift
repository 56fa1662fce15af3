package import AsyncHTTPClient
import CountersignWire
import Encodings
package import NIOCore
import NIOHTTP1

/// Sends text messages through a gateway.
package struct TextSender: Sendable {
    /// The maximum size of a reply, in bytes.
    private static let maximumSize = 65_536

    private let gateway: TextGateway
    private let post: @Sendable (HTTPClientRequest) async throws -> ServiceReply

    /// Creates a sender over a client from ``PushSender/makeClient(authorities:)``.
    package init(_ gateway: TextGateway, client: HTTPClient) {
        self.init(gateway, client: client, timeout: ServiceReply.timeout)
    }

    /// Creates a sender with another timeout.
    package init(_ gateway: TextGateway, client: HTTPClient, timeout: TimeAmount) {
        self.gateway = gateway
        post = { try await ServiceReply(to: $0, by: client, timeout: timeout, maximumSize: Self.maximumSize) }
    }

    /// Creates a sender over a function that posts a request and returns the reply's status.
    package init(_ gateway: TextGateway, post: @escaping @Sendable (HTTPClientRequest) async throws -> UInt) {
        self.gateway = gateway
        self.post = { ServiceReply(status: try await post($0)) }
    }

    func send(_ text: String, to number: PhoneNumber, at now: Timestamp) async -> DeliveryResult {
        var request = HTTPClientRequest(url: gateway.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: gateway.mediaType)
        request.headers.add(name: "user-agent", value: "countersign")
        for (name, value) in gateway.headers { request.headers.add(name: name, value: value.reveal()) }
        request.body = .bytes(Array(gateway.body(to: "\(number)", text: text).utf8))
        do {
            return judge(try await post(request), at: now)
        } catch {
            return .failed("the gateway: \(words(of: error))")
        }
    }

    private func judge(_ reply: ServiceReply, at now: Timestamp) -> DeliveryResult {
        // The gateway's error text may contain the number; its numeric code, such as Twilio's, cannot.
        let code = reply.json?["code"]?.integer.map { ", code \($0)" } ?? ""
        let words = "the gateway answered \(reply.status)"
        switch reply.status {
        case 200..<300:
            guard let success = gateway.success else { return .delivered }
            return String(decoding: reply.content, as: UTF8.self).contains(success)
                ? .delivered : .failed("\(words) without the words of success\(code)")
        // These refuse this message for good. Other errors may pass, or need the operator.
        case 400, 422: return .refused(words + code)
        default: return .failed(words + code, notBefore: reply.retryTime(at: now))
        }
    }
}
