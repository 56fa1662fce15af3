import CountersignCore
import CountersignWire

/// Sends messages to people through the transports that the operator has set up.
package struct MessageSender: Sendable {
    /// The transport for mail.
    package enum MailTransport: Sendable {
        case smtp(SMTPSender)
        case folder(DevelopmentOutbox)
    }

    /// The transport for text messages.
    package enum TextTransport: Sendable {
        case gateway(TextSender)
        case folder(DevelopmentOutbox)
    }

    private let templates: MessageTemplates
    private let mail: MailTransport?
    private let text: TextTransport?

    /// Creates a sender; a transport that is not set up is nil.
    package init(templates: MessageTemplates, mail: MailTransport?, text: TextTransport?) {
        self.templates = templates
        self.mail = mail
        self.text = text
    }

    func send(
        _ message: PersonalMessage, to address: PersonalAddress, as id: EventID, at now: Timestamp
    ) async -> DeliveryResult {
        switch address {
        case .email(let address): await send(message, to: address, as: id, at: now)
        case .phone(let number): await send(message, to: number, as: id, at: now)
        }
    }

    private func send(
        _ message: PersonalMessage, to address: EmailAddress, as id: EventID, at now: Timestamp
    ) async -> DeliveryResult {
        let content = templates.mail(message)
        switch mail {
        case .smtp(let sender): return await sender.send(content, from: templates.sender, to: address, as: id, at: now)
        case .folder(let outbox):
            let mail = MailMessage(
                id: id, from: Self.developer, sender: templates.sender, to: address, content: content, date: now)
            return outbox.take(
                .init(id: id, to: "\(address)", subject: content.subject, text: content.text, at: now), as: "\(id).eml",
                mail.bytes)
        case nil: return .refused("mail is not set up")
        }
    }

    private func send(
        _ message: PersonalMessage, to number: PhoneNumber, as id: EventID, at now: Timestamp
    ) async -> DeliveryResult {
        let words = templates.text(message)
        switch text {
        case .gateway(let sender): return await sender.send(words, to: number, at: now)
        case .folder(let outbox):
            return outbox.take(
                .init(id: id, to: "\(number)", subject: nil, text: words, at: now), as: "\(id).txt",
                Array("To: \(number)\n\n\(words)\n".utf8))
        case nil: return .refused("text messages are not set up")
        }
    }

    /// The sender's address of mails that are only stored in a folder.
    private static let developer: EmailAddress = {
        guard let address = EmailAddress("countersign@localhost") else { preconditionFailure("the address is one") }
        return address
    }()
}
