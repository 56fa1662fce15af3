import AsyncHTTPClient
import CountersignWire
import Encodings
import NIOHTTP1

/// Posts logout tokens to where clients listen; it does not follow redirects.
///
/// The token is signed, so that the request has no signature and no credentials of its own.
///
/// Spec: OpenID Connect Back-Channel Logout 1.0 §2.5.
struct LogoutSender: Sendable {
    private let post: @Sendable (HTTPClientRequest) async throws -> UInt

    /// A sender that connects where callbacks may, and waits for as long.
    init(_ callbacks: CallbackSender) {
        post = callbacks.post
    }

    /// Posts a token.
    ///
    /// 400 is final: the client has read the token, and would refuse another one as well. Any other failure may pass.
    /// Spec: OpenID Connect Back-Channel Logout 1.0 §2.8.
    func send(_ token: Secret<String>, to uri: CallbackURI) async -> DeliveryResult {
        var request = HTTPClientRequest(url: uri.description)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "cache-control", value: "no-store")
        request.headers.add(name: "user-agent", value: "countersign")
        // Nothing in a compact JWS needs to be encoded in a form.
        request.body = .bytes(Array("logout_token=\(token.reveal())".utf8))
        do {
            switch try await post(request) {
            case 200, 204: return .delivered
            case 400: return .refused("the receiver answered 400")
            case let code: return .failed("the receiver answered \(code)")
            }
        } catch is OutboundAddressPolicy.Refusal {
            return .failed("the receiver's address is not public")
        } catch {
            return .failed(words(of: error))
        }
    }
}
