import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignWire

/// The senders of all messages, as the operator has configured them.
struct Senders: Sendable {
    let callbacks: CallbackSender
    let pushes: PushSender
    let messages: MessageSender
    private let smtp: SMTPSender?
    private let clients: [HTTPClient]

    /// Creates the senders; call ``shutdown()`` after their use.
    ///
    /// - Parameters:
    ///   - settings: the operator's settings.
    ///   - reach: the addresses to which callbacks may go.
    ///   - issuer: the issuer.
    ///   - isDevelopment: whether the issuer and the listener are both loopback.
    ///   - developmentOutbox: takes messages to people if no sender is configured; nil outside development mode.
    ///   - tokens: shares APNs' provider token between the nodes.
    ///   - time: the current time.
    init(
        _ settings: ServerSettings, reach: OutboundAddressPolicy, issuer: Issuer, isDevelopment: Bool,
        developmentOutbox: DevelopmentOutbox?, tokens: any ProviderTokens, time: any TimeSource
    ) throws {
        // The settings are read first, because a failure after this must not leave a client open.
        let apple = try settings.apns?.settings()
        let google = try settings.fcm?.settings()
        let templates = try settings.messages.templates(issuer: issuer)
        let gateway = try settings.texts?.gateway()
        smtp = try settings.mail.map { SMTPSender(try $0.settings()) }
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
        messages = MessageSender(
            templates: templates, mail: smtp.map { .smtp($0) } ?? developmentOutbox.map { .folder($0) },
            text: gateway.map { .gateway(TextSender($0, client: pushClient(nil))) }
                ?? developmentOutbox.map { .folder($0) })
        self.clients = clients
    }

    func shutdown() async throws {
        try await smtp?.shutdown()
        for client in clients { try await client.shutdown() }
    }
}
