public import AsyncHTTPClient
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1

/// Hands text messages to a gateway.
public struct TextSender: Sendable {
    private static let timeout = TimeAmount.seconds(15)
    /// How much of an answer is read, in bytes.
    private static let maximumSize = 65_536

    private let gateway: TextGateway
    private let client: HTTPClient

    /// A sender over a client that ``PushSender/makeClient(authorities:)`` made.
    public init(_ gateway: TextGateway, client: HTTPClient) {
        self.gateway = gateway
        self.client = client
    }

    func send(_ text: String, to number: PhoneNumber, at now: Timestamp) async -> DeliveryResult {
        var request = HTTPClientRequest(url: gateway.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: gateway.mediaType)
        request.headers.add(name: "user-agent", value: "countersign")
        for (name, value) in gateway.headers { request.headers.add(name: name, value: value.reveal()) }
        request.body = .bytes(Array(gateway.body(to: "\(number)", text: text).utf8))
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            let content = Array(try await response.body.collect(upTo: Self.maximumSize).readableBytesView)
            return result(
                response.status.code, content,
                retryAfter: response.headers.first(name: "retry-after").flatMap { Int64($0) }, at: now)
        } catch {
            return .failed("the gateway: \(words(of: error))")
        }
    }

    private func result(_ status: UInt, _ content: [UInt8], retryAfter: Int64?, at now: Timestamp) -> DeliveryResult {
        // What the gateway says in words may name the number; its own code, as Twilio gives one, may not.
        let code = (try? JSONValue(parsing: content))?["code"]?.integer.map { ", code \($0)" } ?? ""
        switch status {
        case 200..<300:
            guard let success = gateway.success else { return .delivered }
            return String(decoding: content, as: UTF8.self).contains(success)
                ? .delivered : .failed("the gateway answered \(status) without the words of success\(code)")
        // About this message, for good. Others are for an operator to mend, or for time.
        case 400, 422: return .refused("the gateway answered \(status)\(code)")
        default:
            return .failed(
                "the gateway answered \(status)\(code)",
                notBefore: retryAfter.map { now.adding(seconds: min(max(0, $0), 3600)) })
        }
    }
}
