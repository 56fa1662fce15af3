import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignWire

/// By what messages leave, as the operator has set it up.
struct Senders: Sendable {
    let callbacks: CallbackSender
    let pushes: PushSender
    private let clients: [HTTPClient]

    /// Senders that are shut down after use.
    ///
    /// - Parameters:
    ///   - settings: what the operator decided.
    ///   - reach: how far callbacks may go.
    ///   - isDevelopment: whether everything is on this machine.
    ///   - tokens: where the nodes share APNs' provider token.
    ///   - time: the clock.
    init(
        _ settings: ServerSettings, reach: CallbackReach, isDevelopment: Bool, tokens: any ProviderTokens,
        time: any TimeSource
    ) throws {
        // Read first: what fails here leaves no client behind.
        let apple = try settings.apns?.settings()
        let google = try settings.fcm?.settings()
        var clients: [HTTPClient] = []
        func kept(_ client: HTTPClient) -> HTTPClient {
            clients.append(client)
            return client
        }
        func pushClient(_ authorities: String?) -> HTTPClient {
            kept(PushSender.makeClient(authorities: authorities))
        }
        callbacks = CallbackSender(client: kept(CallbackSender.makeClient(reach: reach)))
        pushes = PushSender(
            apns: apple.map {
                APNsSender($0, client: pushClient($0.authorities), tokens: tokens, time: time)
            },
            fcm: google.map { FCMSender($0, client: pushClient($0.authorities), time: time) },
            local: isDevelopment ? LocalPushSender(client: pushClient(nil)) : nil)
        self.clients = clients
    }

    func shutdown() async throws {
        for client in clients { try await client.shutdown() }
    }
}
