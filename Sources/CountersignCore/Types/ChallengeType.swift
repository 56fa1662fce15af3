package import CountersignWire
package import Encodings

/// A policy a client may ask by.
///
/// Requests can tighten it and never loosen it.
package struct ChallengeType: Hashable, Sendable {
    /// Its name.
    package let name: TypeName
    /// The methods allowed, in order.
    package let methods: [AnswerMethod]
    /// How its challenges reach whoever answers them; those by text message leave no receipt.
    package let channel: Channel.Kind
    /// How long a challenge lives, and the longest a request may ask for.
    package let lifetime: Seconds
    /// Whether a number shown by the asking side must be typed on the device.
    package let numberEntry: Bool
    /// Whether a request may bring signing data.
    package let signingData: Bool
    /// The least an answer must prove.
    package let assurance: Assurance
    /// Whether it is labelled AAL2: then NIST SP 800-63B-4 accepts it, and devices with keys in software are not asked.
    package let isAAL2: Bool
    /// The type that is asked by where no device can answer by this one; nil for none.
    package let fallback: TypeName?
    /// The type with a code that is asked by where the user has approved nothing from the browser at hand before; nil
    /// where browsers do not matter.
    package let unknownBrowser: TypeName?
    /// How many challenges of one client may be open for one user.
    package let maximumPending: Int
    /// How often a client may ask a user within an hour without being approved once.
    package let maximumAsks: Int
    /// How long a client must wait after a user's second denial in a row; twice as long after each further
    /// one.
    package let denialPause: Seconds
    /// How often a challenge may be answered wrongly, by PINs and custom authenticators together, before it fails; nil
    /// for as often as those allow.
    package let attempts: Int?
    /// How often a challenge may be announced again.
    package let maximumResends: Int
    /// What is asked, by language, where a request says nothing itself.
    package let texts: [LanguageTag: DisplayMessage]
    /// Who may ask by it; nil for every client.
    package let clients: Set<ClientID>?

    /// How many languages it may have texts in, and how many clients it may name.
    private static let (maximumTexts, maximumClients) = (100, 1000)
    /// How long unapproved asks count.
    static let askWindow = Seconds.hours(1)
    /// The longest a challenge with a code may live.
    ///
    /// Spec: design 3.7.
    private static let longestCode = Seconds.minutes(3)
    /// The longest six digits that were sent may be typed, and how long they may be where nothing is said.
    ///
    /// Spec: NIST SP 800-63B-4 §3.1.3.2.
    private static let (longestText, usualText) = (Seconds.minutes(10), Seconds.minutes(5))

    /// The type that possession of the device answers.
    package static let confirm = standard(.confirm, by: [.confirm])
    /// Every type that exists from the start.
    package static let builtIn = [
        confirm, standard(.pin, by: [.pin]), standard(.biometric, by: [.biometric, .pin]),
        standard(.qr, by: [.confirm], channel: .code),
    ]

    private static func standard(
        _ name: TypeName, by methods: [AnswerMethod], channel: Channel.Kind = .devices
    ) -> ChallengeType {
        // What is scanned has come from the screen where the user started it: no number need be typed, too.
        let isCode = channel == .code
        return ChallengeType(
            name: name, methods: methods, channel: channel, lifetime: isCode ? longestCode : 120,
            numberEntry: !isCode, signingData: true, assurance: .receipt, maximumPending: 3, maximumAsks: 10,
            denialPause: 30, maximumResends: 3)
    }

    /// A type of these parts.
    package init(
        name: TypeName, methods: [AnswerMethod], channel: Channel.Kind = .devices, lifetime: Seconds, numberEntry: Bool,
        signingData: Bool, assurance: Assurance, isAAL2: Bool = false, fallback: TypeName? = nil,
        unknownBrowser: TypeName? = nil, maximumPending: Int, maximumAsks: Int, denialPause: Seconds,
        attempts: Int? = nil, maximumResends: Int, texts: [LanguageTag: DisplayMessage] = [:],
        clients: Set<ClientID>? = nil
    ) {
        self.name = name
        self.methods = methods
        self.channel = channel
        self.lifetime = lifetime
        self.numberEntry = numberEntry
        self.signingData = signingData
        self.assurance = assurance
        self.isAAL2 = isAAL2
        self.fallback = fallback
        self.unknownBrowser = unknownBrowser
        self.maximumPending = maximumPending
        self.maximumAsks = maximumAsks
        self.denialPause = denialPause
        self.attempts = attempts
        self.maximumResends = maximumResends
        self.texts = texts
        self.clients = clients
    }

    /// How long to wait after so many denials in a row: not at all after one, which may be a mistake, and
    /// never longer than denials count.
    func pause(afterDenials count: Int) -> Seconds {
        count < 2 ? 0 : min((1 << Int64(min(count - 2, 30))) * denialPause, Self.askWindow)
    }

    /// Whether a client may ask by it.
    ///
    /// One that sends codes costs money and proves little: it is open to those alone that it names.
    func isOpen(to client: ClientID) -> Bool { clients?.contains(client) ?? (channel != .text) }

    /// What is asked in a language: in itself, in one it is a variety of, in English, or in the first one there is.
    ///
    /// Spec: RFC 4647 §3.4.
    func text(in language: LanguageTag?) -> DisplayMessage? {
        let asked = language?.fallbacks ?? []
        let first = texts.keys.min { $0.description < $1.description }
        return (asked + [.english] + [first].compactMap { $0 }).lazy.compactMap { texts[$0] }.first
    }

    /// The type as JSON.
    package var json: JSONValue {
        .members([
            "name": .string("\(name)"), "methods": .array(methods.map { .string($0.rawValue) }),
            "qr": .bool(channel == .code), "text_code": .bool(channel == .text), "expires_in": .integer(lifetime.value),
            "number_entry": .bool(numberEntry),
            "signing_data": .bool(signingData),
            "assurance": .string(assurance.rawValue), "aal2": .bool(isAAL2),
            "fallback": fallback.map { .string("\($0)") },
            "unknown_browser": unknownBrowser.map { .string("\($0)") }, "max_pending": .integer(Int64(maximumPending)),
            "max_asks": .integer(Int64(maximumAsks)), "denial_pause": .integer(denialPause.value),
            "attempts": attempts.map { .integer(Int64($0)) }, "max_resends": .integer(Int64(maximumResends)),
            "texts": textsJSON, "clients": clients.map { .array($0.sorted().map { .string("\($0)") }) },
        ])
    }

    private var textsJSON: JSONValue {
        var object = JSONObject()
        for (language, text) in texts.sorted(by: { $0.key.description < $1.key.description }) {
            object[language.description] = .string(text.text)
        }
        return .object(object)
    }

    /// Reads a type; members left out get the values of ``confirm``, but with a code no number is typed.
    ///
    /// - Parameters:
    ///   - json: the type.
    ///   - name: its name.
    ///   - pointer: the JSON pointer of the type in the document that holds it.
    ///   - isStored: whether it was accepted before, perhaps by an earlier program.
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a text that may not be shown.
    package init(_ json: JSONValue, name: TypeName, at pointer: String = "", isStored: Bool = false) throws {
        let standard = Self.confirm
        var members = try JSONMembers(json, at: pointer)
        guard name != .newDevice else {
            throw JSONShapeError.invalid(
                pointer: members.pointer(to: "name"), expected: "another name: the server alone asks by this one")
        }
        self.name = name
        // A type as the API shows it may be sent back, its name included.
        _ = try members.optional("name", "\"\(name)\", as in the path") { $0 == .string("\(name)") ? true : nil }
        let isText = try members.optionalBool("text_code") ?? false
        methods =
            try members.optional(
                "methods", isText ? "absent, since a code is sent" : "an array of one or more of \(Self.methodNames)"
            ) {
                guard let names = $0.array, names.isEmpty == isText else { return nil }
                let methods = names.compactMap { $0.string.flatMap(AnswerMethod.init(rawValue:)) }
                return methods.count == names.count && Set(methods).count == names.count ? methods : nil
            } ?? (isText ? [] : standard.methods)
        let isQR = try members.optionalBool("qr") ?? false
        channel = isText ? .text : isQR ? .code : .devices
        lifetime =
            try members.optionalSeconds(
                "expires_in", in: 10...(isQR ? Self.longestCode : isText ? Self.longestText : .days(1)))
            ?? (isText ? Self.usualText : standard.lifetime)
        numberEntry = try members.optionalBool("number_entry") ?? (isQR || isText ? false : standard.numberEntry)
        signingData = try members.optionalBool("signing_data") ?? (isText ? false : standard.signingData)
        assurance =
            try members.optional("assurance", "\"receipt\", \"challenge\" or \"event\"") {
                $0.string.flatMap(Assurance.init(rawValue:))
            } ?? (isText ? .event : standard.assurance)
        isAAL2 = try members.optionalBool("aal2") ?? standard.isAAL2
        func other(_ value: JSONValue) -> TypeName? {
            value.string.flatMap { TypeName($0) }.flatMap { $0 == name ? nil : $0 }
        }
        fallback = try members.optional("fallback", "the name of another type", other)
        unknownBrowser = try members.optional("unknown_browser", "the name of another type, one with a code", other)
        maximumPending = Int(try members.optionalInteger("max_pending", in: 1...1000) ?? Int64(standard.maximumPending))
        maximumAsks = Int(try members.optionalInteger("max_asks", in: 1...1000) ?? Int64(standard.maximumAsks))
        denialPause = try members.optionalSeconds("denial_pause", in: 0...Self.askWindow) ?? standard.denialPause
        attempts = try members.optionalInteger("attempts", in: 1...100).map { Int($0) }
        maximumResends = Int(try members.optionalInteger("max_resends", in: 0...100) ?? Int64(standard.maximumResends))
        texts = try Self.texts(members.value("texts"), at: members.pointer(to: "texts"))
        clients = try members.optional("clients", "an array of one to \(Self.maximumClients) ids of clients") {
            let ids = $0.array?.map { $0.string.flatMap { ClientID($0) } }
            guard let ids, (1...Self.maximumClients).contains(ids.count), !ids.contains(nil) else { return nil }
            return Set(ids.compactMap { $0 })
        }
        try members.refuseUnknown()
        if isText, let member = wrongForText(isQR: isQR) {
            throw JSONShapeError.invalid(
                pointer: members.pointer(to: member), expected: "absent, since a code is sent by text message")
        }
        if isText, clients == nil, !isStored { throw JSONShapeError.missing(pointer: members.pointer(to: "clients")) }
        if isAAL2, let violation = AAL2.violations(of: self).first {
            throw JSONShapeError.invalid(
                pointer: members.pointer(to: violation.member), expected: violation.expected)
        }
    }

    /// What says of a type whose codes are sent that a device takes part, or that more is proved than there is.
    private func wrongForText(isQR: Bool) -> String? {
        [
            "qr": isQR, "number_entry": numberEntry, "signing_data": signingData, "assurance": assurance != .event,
            "aal2": isAAL2, "fallback": fallback != nil, "unknown_browser": unknownBrowser != nil,
        ].filter(\.value).keys.min()
    }

    /// Texts by language: a short message each, since it may travel in a notification.
    private static func texts(_ json: JSONValue?, at pointer: String) throws -> [LanguageTag: DisplayMessage] {
        guard let json else { return [:] }
        let members = try JSONMembers(json, at: pointer)
        let all = json.object?.members ?? []
        guard all.count <= maximumTexts else {
            throw JSONShapeError.invalid(pointer: pointer, expected: "at most \(maximumTexts) texts")
        }
        var texts: [LanguageTag: DisplayMessage] = [:]
        for (name, value) in all {
            let place = members.pointer(to: name)
            guard let language = LanguageTag(name), texts[language] == nil else {
                throw JSONShapeError.invalid(
                    pointer: place, expected: "a language as in \"de\" or \"pt-BR\", each once")
            }
            guard let text = value.string else { throw JSONShapeError.invalid(pointer: place, expected: "a string") }
            do {
                texts[language] = try DisplayMessage(text, atMost: PushAlert.maximumMessageLength)
            } catch {
                throw RefusedText(error, at: place)
            }
        }
        return texts
    }

    private static var methodNames: String {
        (AnswerMethod.standard.map(\.rawValue) + ["custom:…"]).map { "\"\($0)\"" }.joined(separator: ", ")
    }
}
