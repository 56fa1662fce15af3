import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignWire

/// By what messages leave, as the operator has set it up.
struct Senders: Sendable {
    let callbacks: CallbackSender
    let pushes: PushSender
    let messages: MessageSender
    private let smtp: SMTPSender?
    private let clients: [HTTPClient]

    /// Senders that are shut down after use.
    ///
    /// - Parameters:
    ///   - settings: what the operator decided.
    ///   - reach: how far callbacks may go.
    ///   - issuer: the deployment.
    ///   - isDevelopment: whether everything is on this machine.
    ///   - developmentOutbox: what takes messages to people where nothing else is set up; nil for nothing.
    ///   - tokens: where the nodes share APNs' provider token.
    ///   - time: the clock.
    init(
        _ settings: ServerSettings, reach: OutboundAddressPolicy, issuer: Issuer, isDevelopment: Bool,
        developmentOutbox: DevelopmentOutbox?, tokens: any ProviderTokens, time: any TimeSource
    ) throws {
        // Read first: what fails here leaves no client behind.
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
