package import CountersignWire
package import Encodings

/// A message to a person: a template with its values, from which the text is made when the message is sent.
package struct PersonalMessage: Sendable {
    /// The template.
    package let template: MessageTemplate
    /// The person's language; nil for the operator's default.
    package let language: LanguageTag?
    /// The values for the template; they are kept as secrets because one of them may be a code.
    package let values: [String: Secret<String>]

    private init(_ template: MessageTemplate, _ language: LanguageTag?, _ values: [String: Secret<String>] = [:]) {
        self.template = template
        self.language = language
        self.values = values
    }

    /// A message without values, which only shows that it arrives.
    package static func test(in language: LanguageTag?) -> PersonalMessage { PersonalMessage(.test, language) }

    /// A message of a template with a code that is good for nothing, which shows how it looks.
    package static func example(
        _ template: MessageTemplate, _ code: EntryNumber, in language: LanguageTag?
    ) -> PersonalMessage {
        switch template {
        case .test: .test(in: language)
        case .code: .code(code, minutes: 10, in: language)
        case .signIn: PersonalMessage(.signIn, language, ["code": Secret(code.digits), "minutes": Secret("10")])
        case .device: PersonalMessage(.device, language, ["device": Secret("Pixel 9"), "removed": Secret("yes")])
        case .passkey:
            PersonalMessage(.passkey, language, ["passkey": Secret("Firefox on Windows"), "created": Secret("yes")])
        case .address:
            PersonalMessage(.address, language, ["address": Secret("you@example.com"), "added": Secret("yes")])
        case .userCode: PersonalMessage(.userCode, language, ["set": Secret("yes")])
        case .signedIn: PersonalMessage(.signedIn, language, ["elsewhere": Secret("yes")])
        }
    }

    /// A mail of a sign-in with a link alone that is good for nothing, which shows how it looks.
    package static func exampleByLink(_ link: Secret<String>, in language: LanguageTag?) -> PersonalMessage {
        PersonalMessage(.signIn, language, ["link": link, "minutes": Secret("10")])
    }

    /// What was done with a device, which a message tells.
    package enum DeviceChange: String, CaseIterable, Sendable {
        /// It was removed.
        case removed
        /// It was suspended.
        case suspended
        /// It was resumed.
        case resumed
        /// It is confirmed.
        case confirmed
        /// It is confirmed later, unless somebody objects.
        case confirming
    }

    /// What was done with a passkey, which a message tells.
    package enum PasskeyChange: String, CaseIterable, Sendable {
        /// It was created, and signs in at once.
        case created
        /// It was created, and signs in later, unless it is removed before.
        case waiting
        /// It was removed.
        case removed
    }

    /// What was done with an address, which a message tells.
    package enum AddressChange: String, CaseIterable, Sendable {
        /// It was added, and signs in from now on.
        case added
        /// It was removed.
        case removed
    }

    /// What was done with the code without which no client's server has the person asked, which a message tells.
    package enum UserCodeChange: String, CaseIterable, Sendable {
        /// It was set, or another one was.
        case set
        /// It was removed.
        case removed
    }

    /// What was done on the account page, and the name of what it was done with.
    package enum AccountChange: Sendable {
        /// Something was done with a trusted device.
        case device(DeviceChange, DisplayLine)
        /// Something was done with a passkey.
        case passkey(PasskeyChange, DisplayLine)
        /// Something was done with an address.
        case address(AddressChange, PersonalAddress)
        /// Something was done with the code for what clients' servers ask.
        case userCode(UserCodeChange)

        /// The template, which is named as its value for the name is.
        fileprivate var parts: (template: MessageTemplate, change: String, name: String?) {
            switch self {
            case .device(let change, let name): (.device, change.rawValue, name.text)
            case .passkey(let change, let name): (.passkey, change.rawValue, name.text)
            case .address(let change, let address): (.address, change.rawValue, "\(address)")
            case .userCode(let change): (.userCode, change.rawValue, nil)
            }
        }
    }

    /// A message that tells what was done on the account page.
    ///
    /// - Parameters:
    ///   - change: what was done.
    ///   - sender: the name of the client through which it was done, or of the host.
    ///   - time: when it was done or, of what is done later, when that will be.
    ///   - place: from where it was done; nil where nothing is known.
    ///   - page: where the person sees what is theirs; nil where there is no such page.
    ///   - language: the person's language; nil for the operator's default.
    package static func changed(
        _ change: AccountChange, by sender: String, at time: Timestamp, from place: ContextLine?, page: String?,
        in language: LanguageTag?
    ) -> PersonalMessage {
        let (template, change, name) = change.parts
        var values = [
            change: Secret("yes"), "sender": Secret(sender),
            "time": Secret(time.minuteText),
        ]
        values["page"] = page.map { Secret($0) }
        values[template.rawValue] = name.map { Secret($0) }
        values["place"] = place.map { Secret($0.worded(in: language).line.text) }
        return PersonalMessage(template, language, values)
    }

    /// Why a person is told of a sign-in.
    package enum SignInNotice: String, CaseIterable, Sendable {
        /// It was in a browser in which they had approved nothing before.
        case newBrowser = "elsewhere"
        /// Wrong codes had been typed for the address before.
        case wrongCodes = "guessed"
        /// A device has signed in by a code that was typed on a page, or by the person's name.
        case deviceGrant = "bycode"
    }

    /// A message that tells of a sign-in that may be somebody else's.
    ///
    /// - Parameters:
    ///   - notice: why it is told.
    ///   - client: where somebody has signed in.
    ///   - time: when.
    ///   - place: from where; nil where nothing is known.
    ///   - page: where the person sees what is theirs; nil where there is no such page.
    ///   - language: the language of the sign-in; nil for the operator's default.
    package static func signedIn(
        _ notice: SignInNotice, at client: ClientName, at time: Timestamp, from place: ContextLine?, page: String?,
        in language: LanguageTag?
    ) -> PersonalMessage {
        var values = [
            notice.rawValue: Secret("yes"), "sender": Secret(client.text), "time": Secret(time.minuteText),
        ]
        values["page"] = page.map { Secret($0) }
        values["place"] = place.map { Secret($0.worded(in: language).line.text) }
        return PersonalMessage(.signedIn, language, values)
    }

    /// A message with a code that is valid for a number of minutes.
    package static func code(_ code: EntryNumber, minutes: Int, in language: LanguageTag?) -> PersonalMessage {
        PersonalMessage(.code, language, ["code": Secret(code.digits), "minutes": Secret("\(minutes)")])
    }

    /// A message with the code that adds its address to an account.
    package static func addressCode(
        _ code: EntryNumber, minutes: Int, from place: ContextLine?, in language: LanguageTag?
    ) -> PersonalMessage {
        var values = ["code": Secret(code.digits), "minutes": Secret("\(minutes)"), "adding": Secret("yes")]
        values["place"] = place.map { Secret($0.worded(in: language).line.text) }
        return PersonalMessage(.code, language, values)
    }

    /// A message with the code that approves a client's challenge, and with the question.
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

    /// A message with the code of a sign-in, and with a link if it is a mail.
    ///
    /// - Parameters:
    ///   - code: the code; nil for a mail that has the link alone.
    ///   - minutes: how long it is good.
    ///   - client: where the person signs in.
    ///   - link: the link; nil for a text message.
    ///   - place: from where it was asked for; nil where nothing is known.
    ///   - language: the person's language; nil for the operator's default.
    package static func signIn(
        _ code: EntryNumber?, minutes: Int, at client: ClientName, link: Secret<String>?, from place: ContextLine?,
        in language: LanguageTag?
    ) -> PersonalMessage {
        var values = ["minutes": Secret("\(minutes)"), "sender": Secret(client.text)]
        values["code"] = code.map { Secret($0.digits) }
        values["link"] = link
        values["place"] = place.map { Secret($0.worded(in: language).line.text) }
        return PersonalMessage(.signIn, language, values)
    }

    /// Reads a message in its stored form; nil if it is malformed.
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

    /// The stored form, which is sealed before it is written to a row.
    package var stored: JSONValue {
        var texts = JSONObject()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { texts[name] = .string(value.reveal()) }
        return .members([
            "template": .string(template.rawValue), "language": language.map { .string("\($0)") },
            "values": .object(texts),
        ])
    }
}

/// The transports for messages to people that the operator has set up.
package struct Transports: Hashable, Sendable {
    /// Whether mail can be sent.
    package var mail: Bool
    /// Whether text messages can be sent.
    package var text: Bool

    /// Creates a set of transports.
    package init(mail: Bool = false, text: Bool = false) {
        self.mail = mail
        self.text = text
    }

    /// Whether there is a transport for an address.
    package func reach(_ address: PersonalAddress) -> Bool {
        switch address {
        case .email: mail
        case .phone: text
        }
    }
}

extension Timestamp {
    /// The time as people read it: `2026-11-26 19:31 UTC`.
    fileprivate var minuteText: String {
        "\(secondsDescription.prefix(16).replacing("T", with: " ")) UTC"
    }
}
