package import CountersignWire
package import Encodings

/// What an operator sets a challenge type to: `TypeRequest` of the contract.
package struct TypeRequest: Sendable {
    /// Its name, where it is given beside the path.
    package var name: TypeName?
    /// The methods allowed, in order.
    package var methods: [AnswerMethod]?
    /// Whether whoever scans a code is asked.
    package var isQR: Bool?
    /// Whether a code is sent by text message.
    package var isText: Bool?
    /// How long a challenge lives.
    package var lifetime: Seconds?
    /// Whether a number must be typed on the device.
    package var numberEntry: Bool?
    /// Whether a request may bring signing data.
    package var signingData: Bool?
    /// The least an answer must prove.
    package var assurance: Assurance?
    /// Whether it is labelled AAL2.
    package var isAAL2: Bool?
    /// The type that is asked by where no device can answer by this one.
    package var fallback: TypeName?
    /// The type that is asked by from an unknown browser.
    package var unknownBrowser: TypeName?
    /// How many challenges of one client may be open for one user.
    package var maximumPending: Int?
    /// How often a client may ask a user within an hour without being approved once.
    package var maximumAsks: Int?
    /// How long a client must wait after a user's second denial in a row.
    package var denialPause: Seconds?
    /// How often a challenge may be answered wrongly before it fails.
    package var attempts: Int?
    /// How often a challenge may be announced again.
    package var maximumResends: Int?
    /// What is asked, by language, where a request says nothing itself.
    package var texts: [LanguageTag: DisplayMessage]?
    /// Who may ask by it.
    package var clients: Set<ClientID>?
    /// The captcha that must have been solved before a code is sent.
    package var captcha: CaptchaName?

    /// A request that leaves everything out.
    package init() {}

    /// The type that is asked for; what is left out is as the type itself has it.
    package func type(named name: TypeName) -> ChallengeType {
        ChallengeType(
            name: name, methods: methods, channel: isText == true ? .text : isQR == true ? .code : .devices,
            lifetime: lifetime, numberEntry: numberEntry, signingData: signingData, assurance: assurance,
            isAAL2: isAAL2 ?? false, fallback: fallback, unknownBrowser: unknownBrowser,
            maximumPending: maximumPending, maximumAsks: maximumAsks, denialPause: denialPause, attempts: attempts,
            maximumResends: maximumResends, texts: texts ?? [:], clients: clients, captcha: captcha)
    }

    /// The request as JSON.
    package var json: JSONValue {
        Self.json(
            name: name?.description, methods: methods?.map(\.rawValue), isQR: isQR, isText: isText,
            lifetime: lifetime?.value,
            numberEntry: numberEntry, signingData: signingData, assurance: assurance?.rawValue, isAAL2: isAAL2,
            fallback: fallback?.description, unknownBrowser: unknownBrowser?.description,
            maximumPending: maximumPending.map { Int64($0) }, maximumAsks: maximumAsks.map { Int64($0) },
            denialPause: denialPause?.value, attempts: attempts.map { Int64($0) },
            maximumResends: maximumResends.map { Int64($0) },
            texts: texts?.map { ($0.description, $1.text) }.sorted { $0.0 < $1.0 },
            clients: clients?.sorted().map(\.description), captcha: captcha?.description)
    }

    /// A request as a caller writes it, which the server judges.
    package static func json(
        name: String? = nil, methods: [String]?, isQR: Bool?, isText: Bool?, lifetime: Int64?, numberEntry: Bool?,
        signingData: Bool?, assurance: String? = nil, isAAL2: Bool?, fallback: String?, unknownBrowser: String?,
        maximumPending: Int64?, maximumAsks: Int64?, denialPause: Int64?, attempts: Int64?, maximumResends: Int64?,
        texts: [(language: String, text: String)]?, clients: [String]?, captcha: String? = nil
    ) -> JSONValue {
        .members([
            "name": .text(name), "methods": methods.map(JSONValue.texts), "qr": isQR.map(JSONValue.bool),
            "text_code": isText.map(JSONValue.bool), "expires_in": lifetime.map(JSONValue.integer),
            "number_entry": numberEntry.map(JSONValue.bool), "signing_data": signingData.map(JSONValue.bool),
            "assurance": .text(assurance), "aal2": isAAL2.map(JSONValue.bool), "fallback": .text(fallback),
            "unknown_browser": .text(unknownBrowser), "max_pending": maximumPending.map(JSONValue.integer),
            "max_asks": maximumAsks.map(JSONValue.integer), "denial_pause": denialPause.map(JSONValue.integer),
            "attempts": attempts.map(JSONValue.integer), "max_resends": maximumResends.map(JSONValue.integer),
            "texts": texts.map { .texts(byName: $0) }, "clients": clients.map(JSONValue.texts),
            "captcha": .text(captcha),
        ])
    }

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - json: the request.
    ///   - name: the name of its type; a type as the API shows it may be sent back, its name included.
    ///   - pointer: the JSON pointer of the type in the document that holds it.
    ///   - isStored: whether it was accepted before, perhaps by an earlier program.
    ///   - isOpen: whether unknown members are ignored, as in replies.
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a text that may not be shown.
    package init(
        _ json: JSONValue, named name: TypeName, at pointer: String = "", isStored: Bool = false,
        ignoringUnknown isOpen: Bool = false
    ) throws {
        var members = try JSONMembers(json, at: pointer)
        guard isStored || !TypeName.reserved.contains(name) else {
            throw JSONShapeError.invalid(
                pointer: members.pointer(to: "name"), expected: "another name: the server alone asks by this one")
        }
        self.name = try members.optional("name", "\"\(name)\", as in the path") {
            $0 == .string("\(name)") ? name : nil
        }
        isText = try members.optionalBool("text_code")
        let isText = isText == true
        methods = try members.optional(
            "methods", isText ? "absent, since a code is sent" : "an array of one or more of \(Self.methodNames)"
        ) { value in
            value.array?.isEmpty == isText ? value.eachOnce { AnswerMethod(rawValue: $0) } : nil
        }
        isQR = try members.optionalBool("qr")
        let longest =
            isQR == true
            ? ChallengeType.longestCode : isText ? ChallengeType.longestText : ChallengeType.longestLifetime
        lifetime = try members.optionalSeconds("expires_in", in: 10...longest)
        numberEntry = try members.optionalBool("number_entry")
        signingData = try members.optionalBool("signing_data")
        assurance = try members.optional("assurance", "\"receipt\", \"challenge\" or \"event\"") {
            $0.string.flatMap(Assurance.init(rawValue:))
        }
        isAAL2 = try members.optionalBool("aal2")
        func other(_ value: JSONValue) -> TypeName? {
            value.string.flatMap { TypeName($0) }.flatMap { $0 == name ? nil : $0 }
        }
        fallback = try members.optional("fallback", "the name of another type", other)
        unknownBrowser = try members.optional("unknown_browser", "the name of another type, one with a code", other)
        maximumPending = try members.optionalInteger("max_pending", in: 1...1000).map { Int($0) }
        maximumAsks = try members.optionalInteger("max_asks", in: 1...1000).map { Int($0) }
        denialPause = try members.optionalSeconds("denial_pause", in: 0...ChallengeType.askWindow)
        attempts = try members.optionalInteger("attempts", in: 1...100).map { Int($0) }
        maximumResends = try members.optionalInteger("max_resends", in: 0...100).map { Int($0) }
        texts = try members.value("texts").map { try Self.texts($0, at: members.pointer(to: "texts")) }
        let most = ChallengeType.maximumClients
        clients = try members.optional("clients", "an array of one to \(most) ids of clients") { value in
            guard let ids = value.each({ ClientID($0) }), (1...most).contains(ids.count) else { return nil }
            return Set(ids)
        }
        captcha = try members.optional("captcha", "the name of one of the server's captchas") {
            $0.string.flatMap { CaptchaName($0) }
        }
        if !isOpen { try members.refuseUnknown() }
        guard isText else {
            // What asks a device costs no money. A type that falls back to another one needs what that one says.
            if captcha != nil {
                throw JSONShapeError.invalid(
                    pointer: members.pointer(to: "captcha"), expected: "absent, since no code is sent by text message")
            }
            return
        }
        if let member = wrongForText {
            throw JSONShapeError.invalid(
                pointer: members.pointer(to: member), expected: "absent, since a code is sent by text message")
        }
        if clients == nil, !isStored { throw JSONShapeError.missing(pointer: members.pointer(to: "clients")) }
    }

    /// What says of a type whose codes are sent that a device takes part, or that more is proved than there is.
    private var wrongForText: String? {
        [
            "qr": isQR == true, "number_entry": numberEntry == true, "signing_data": signingData == true,
            "assurance": (assurance ?? .event) != .event, "aal2": isAAL2 == true, "fallback": fallback != nil,
            "unknown_browser": unknownBrowser != nil,
        ].filter(\.value).keys.min()
    }

    /// Texts by language: a short message each, since it may travel in a notification.
    private static func texts(_ json: JSONValue, at pointer: String) throws -> [LanguageTag: DisplayMessage] {
        let members = try JSONMembers(json, at: pointer)
        let all = json.object?.members ?? []
        guard all.count <= ChallengeType.maximumTexts else {
            throw JSONShapeError.invalid(pointer: pointer, expected: "at most \(ChallengeType.maximumTexts) texts")
        }
        var texts: [LanguageTag: DisplayMessage] = [:]
        for (name, value) in all {
            let place = members.pointer(to: name)
            guard let language = LanguageTag(name), texts[language] == nil else {
                throw JSONShapeError.invalid(
                    pointer: place, expected: "a language as in \"de\" or \"pt-BR\", each once")
            }
            guard let text = value.string else { throw JSONShapeError.invalid(pointer: place, expected: "a string") }
            texts[language] = try refusing(at: place) { () throws(TextRefusal) in
                try DisplayMessage(text, atMost: PushAlert.maximumMessageLength)
            }
        }
        return texts
    }

    private static var methodNames: String {
        (AnswerMethod.standard.map(\.rawValue) + ["custom:…"]).map { "\"\($0)\"" }.joined(separator: ", ")
    }
}

extension ChallengeType {
    /// Reads a type, as ``TypeRequest`` does.
    package init(_ json: JSONValue, name: TypeName, at pointer: String = "", isStored: Bool = false) throws {
        self = try TypeRequest(json, named: name, at: pointer, isStored: isStored).type(named: name)
    }
}
