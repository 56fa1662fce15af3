import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport
import Testing

/// An outbox whose mail goes to a real server.
struct MailScene: Sendable {
    static let password = "marker-of-a-password"

    let delivery: DeliveryScene
    let peer: SMTPPeerProcess

    /// Runs something in a scene of its own; no log may hold the password, the address or a code.
    ///
    /// - Parameters:
    ///   - rules: the server's.
    ///   - adjust: changes what the sender knows of it.
    ///   - sender: whom mail is from.
    ///   - body: is given the scene.
    static func with(
        _ rules: SMTPPeerProcess.Rules = .init(), adjust: (inout SMTPSettings) -> Void = { _ in },
        sender: String = "ACME", _ body: (MailScene) async throws -> Void
    ) async throws {
        let peer = try await SMTPPeerProcess(rules)
        let security = try #require(SMTPSettings.Security(rawValue: rules.security))
        let from = try #require(EmailAddress("login@mail.example.com"))
        var settings = SMTPSettings(host: "localhost", port: peer.port, security: security, from: from)
        if security != .none { settings.authorities = peer.authorities }
        settings.credentials = rules.credentials.map { .init(username: $0.user, password: Secret($0.password)) }
        adjust(&settings)
        let smtp = SMTPSender(settings)
        try await DeliveryScene.with { delivery in
            var delivery = delivery
            let templates = try MessageTemplates(sender: sender, issuer: delivery.world.ports.issuer)
            delivery.messages = MessageSender(templates: templates, mail: .smtp(smtp), text: nil)
            let result: Result<Void, any Error>
            do { result = .success(try await body(MailScene(delivery: delivery, peer: peer))) } catch {
                result = .failure(error)
            }
            try await smtp.shutdown()
            try await peer.end()
            let search = SecretSearch([
                SecretForms("the mail server's password", text: password),
                SecretForms("an address", text: "someone.to.write@example.org"),
            ])
            #expect(search.names(in: delivery.logs.entries.joined(separator: "\n")).isEmpty)
            try result.get()
        }
    }

    /// Queues a mail.
    @discardableResult
    func queue(
        _ message: PersonalMessage = .code(EntryNumber(value: 4711), minutes: 10, in: nil),
        to address: String = "someone.to.write@example.org", lifetime: Int64 = 600
    ) async throws -> EventID {
        let world = delivery.world
        let queued = OutboxMessage(
            id: world.newID(),
            content: .personal(
                message, to: .email(try #require(EmailAddress(address))), client: delivery.shop.client.id),
            dueAt: world.time.now, expiresAt: world.time.now.adding(seconds: lifetime))
        try await world.store.commit { writer in
            try writer.outbox.enqueue(queued)
        }
        return queued.id
    }

    /// Has what is due delivered, and tells where a message stands.
    func deliver(_ id: EventID) async throws -> DeliveryScene.Row {
        try await delivery.worker().deliverDue()
        return try await delivery.row(id)
    }
}
