import CountersignCore
import CountersignWire
import Encodings

/// Posts to clients' servers what was decided about their requests; it does not follow redirects.
///
/// Spec: CIBA Core 1.0 §10.2, §10.3.
struct BackchannelSender: Sendable {
    private let callbacks: CallbackSender

    /// A sender that connects where callbacks may, and waits for as long.
    init(_ callbacks: CallbackSender) {
        self.callbacks = callbacks
    }

    /// Posts a notification.
    ///
    /// A client that refuses its own token, or sends us elsewhere, would do so again. Any other failure may pass.
    /// Spec: CIBA Core 1.0 §10.2.
    func send(_ notification: TellBackchannel.Notification) async -> DeliveryResult {
        await callbacks.post(
            notification.body.reveal(), as: "application/json", to: notification.uri,
            authorization: "Bearer \(notification.token.text.reveal())"
        ) { status in
            switch status {
            case 200..<300: .delivered
            case 300..<400, 400, 401, 403: .refused("the receiver answered \(status)")
            default: .failed("the receiver answered \(status)")
            }
        }
    }
}
