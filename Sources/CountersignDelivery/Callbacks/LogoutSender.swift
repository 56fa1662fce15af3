import CountersignWire
import Encodings

/// Posts logout tokens to where clients listen; it does not follow redirects.
///
/// The token is signed, so that the request has no signature and no credentials of its own.
///
/// Spec: OpenID Connect Back-Channel Logout 1.0 §2.5.
struct LogoutSender: Sendable {
    private let callbacks: CallbackSender

    /// A sender that connects where callbacks may, and waits for as long.
    init(_ callbacks: CallbackSender) {
        self.callbacks = callbacks
    }

    /// Posts a token.
    ///
    /// 400 is final: the client has read the token, and would refuse another one as well. Any other failure may pass.
    /// Spec: OpenID Connect Back-Channel Logout 1.0 §2.8.
    func send(_ token: Secret<String>, to uri: CallbackURI) async -> DeliveryResult {
        // Nothing in a compact JWS needs to be encoded in a form.
        let body = Array("logout_token=\(token.reveal())".utf8)
        return await callbacks.post(body, as: "application/x-www-form-urlencoded", to: uri) { status in
            switch status {
            case 200, 204: .delivered
            case 400: .refused("the receiver answered 400")
            default: .failed("the receiver answered \(status)")
            }
        }
    }
}
