package import CountersignWire
package import Encodings

/// A message to a person: the template and what stands in it, put into words when it is sent.
package struct PersonalMessage: Sendable {
    /// The template.
    package let template: MessageTemplate
    /// The person's language; nil for the one the operator has set.
    package let language: LanguageTag?
    /// What stands in it besides what is the same in all: the code is a secret.
    package let values: [String: Secret<String>]

    private init(_ template: MessageTemplate, _ language: LanguageTag?, _ values: [String: Secret<String>] = [:]) {
        self.template = template
        self.language = language
        self.values = values
    }

    /// A message that tells nothing but that it arrived.
    package static func test(in language: LanguageTag?) -> PersonalMessage { PersonalMessage(.test, language) }

    /// A message with a code, which is good for a number of minutes.
    package static func code(_ code: EntryNumber, minutes: Int, in language: LanguageTag?) -> PersonalMessage {
        PersonalMessage(.code, language, ["code": Secret(code.digits), "minutes": Secret("\(minutes)")])
    }

    /// A message with the code that approves a question of a client's, which is told with it.
    package static func code(
        _ code: EntryNumber, minutes: Int, of client: ClientName, asking question: DisplayMessage,
        in language: LanguageTag?
    ) -> PersonalMessage {
        PersonalMessage(
            .code, language,
            [
                "code": Secret(code.digits), "minutes": Secret("\(minutes)"), "sender": Secret(client.text),
                "question": Secret(question.text),
            ])
    }

    /// A message as a row keeps it; nil when it is none.
    package init?(stored json: JSONValue) {
        guard let template = json["template"]?.string.flatMap({ MessageTemplate(rawValue: $0) }),
            let values = json["values"]?.object
        else { return nil }
        var texts: [String: Secret<String>] = [:]
        for member in values.members {
            guard let text = member.value.string else { return nil }
            texts[member.name] = Secret(text)
        }
        var language: LanguageTag?
        if let tag = json["language"]?.string {
            guard let known = LanguageTag(tag) else { return nil }
            language = known
        }
        self.init(template, language, texts)
    }

    /// The message as a row keeps it, which is sealed.
    package var stored: JSONValue {
        var texts = JSONObject()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { texts[name] = .string(value.reveal()) }
        return .members([
            "template": .string(template.rawValue), "language": language.map { .string("\($0)") },
            "values": .object(texts),
        ])
    }
}

/// By what messages to people leave, as the operator has set it up.
package struct Transports: Hashable, Sendable {
    /// Whether there is mail.
    package var mail: Bool
    /// Whether there are text messages.
    package var text: Bool

    /// Transports of these kinds.
    package init(mail: Bool = false, text: Bool = false) {
        self.mail = mail
        self.text = text
    }

    /// Whether a person can be reached at an address.
    package func reach(_ address: PersonalAddress) -> Bool {
        switch address {
        case .email: mail
        case .phone: text
        }
    }
}
