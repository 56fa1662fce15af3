import AsyncHTTPClient
import CountersignCore
import CountersignWire
import Encodings
import NIOHTTP1

/// Posts to clients' servers what was decided about their requests; it does not follow redirects.
///
/// Spec: CIBA Core 1.0 §10.2, §10.3.
struct BackchannelSender: Sendable {
    private let post: @Sendable (HTTPClientRequest) async throws -> UInt

    /// A sender that connects where callbacks may, and waits for as long.
    init(_ callbacks: CallbackSender) {
        post = callbacks.post
    }

    /// Posts a notification.
    ///
    /// A client that refuses its own token, or sends us elsewhere, would do so again. Any other failure may pass.
    /// Spec: CIBA Core 1.0 §10.2.
    func send(_ notification: TellBackchannel.Notification) async -> DeliveryResult {
        var request = HTTPClientRequest(url: notification.uri.description)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "cache-control", value: "no-store")
        request.headers.add(name: "user-agent", value: "countersign")
        request.headers.add(name: "authorization", value: "Bearer \(notification.token.text.reveal())")
        request.body = .bytes(notification.body.reveal())
        do {
            switch try await post(request) {
            case 200..<300: return .delivered
            case let code where (300..<400).contains(code) || [400, 401, 403].contains(code):
                return .refused("the receiver answered \(code)")
            case let code: return .failed("the receiver answered \(code)")
            }
        } catch is OutboundAddressPolicy.Refusal {
            return .failed("the receiver's address is not public")
        } catch {
            return .failed(words(of: error))
        }
    }
}
