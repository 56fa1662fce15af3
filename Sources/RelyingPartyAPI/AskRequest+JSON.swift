package import CountersignWire
package import Encodings

/// What a relying party asks, as JSON: `AskRequest` of the contract.
extension AskRequest {
    private static let maximumDetails = 32
    private static let maximumStateLength = 1024

    /// The request as JSON.
    package var json: JSONValue {
        Self.json(
            user: user?.text, type: type.description, message: message?.text, secureMessage: secureMessage?.text,
            details: details.map { ($0.label.text, $0.value.text) }, signingData: signingData?.text,
            context: context.map { ($0.address, $0.userAgent) }, browser: browser?.text.reveal(),
            numberEntry: numberEntry, lifetime: lifetime?.value, methods: methods?.map(\.rawValue),
            enrollments: enrollments?.map(\.description), callbackURI: callbackURI?.description,
            returnURI: returnURI?.description, phone: phone?.description,
            captchaToken: captchaToken?.text.reveal(), locale: locale?.description, clientState: clientState)
    }

    /// A request as a caller writes it, which the server judges.
    package static func json(
        user: String?, type: String, message: String?, secureMessage: String?,
        details: [(label: String, value: String)], signingData: String?,
        context: (address: String?, userAgent: String?)? = nil, browser: String?, numberEntry: Bool? = nil,
        lifetime: Int64?, methods: [String]? = nil, enrollments: [String]? = nil, callbackURI: String?,
        returnURI: String?, phone: String?, captchaToken: String? = nil, locale: String?, clientState: String? = nil
    ) -> JSONValue {
        .members([
            "user": .text(user), "type": .string(type), "message": .text(message),
            "secure_message": .text(secureMessage),
            "details": details.isEmpty
                ? nil : .array(details.map { ["label": .string($0.label), "value": .string($0.value)] }),
            "signing_data": .text(signingData),
            "context": context.map { .members(["ip": .text($0.address), "user_agent": .text($0.userAgent)]) },
            "browser": .text(browser), "number_entry": numberEntry.map(JSONValue.bool),
            "expires_in": lifetime.map(JSONValue.integer), "methods": methods.map(JSONValue.texts),
            "enrollments": enrollments.map(JSONValue.texts), "callback_uri": .text(callbackURI),
            "return_uri": .text(returnURI), "phone": .text(phone), "captcha_token": .text(captchaToken),
            "locale": .text(locale), "state": .text(clientState),
        ])
    }

    /// Reads a request.
    ///
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a text that may not be shown.
    package init(_ json: JSONValue) throws {
        var members = try JSONMembers(json)
        let user = try members.optional("user", "a user's id, or external_id: and the client's own name") {
            $0.string.flatMap { UserReference($0) }
        }
        let type = try members.required("type", "the name of a challenge type") { $0.string.flatMap { TypeName($0) } }
        let message = try members.optionalString("message").map { text in
            try refusing(at: "/message") { () throws(TextRefusal) in
                try DisplayMessage(text, atMost: PushAlert.maximumMessageLength)
            }
        }
        self.init(user: user, type: type, message: message)
        secureMessage = try members.optionalString("secure_message").map { text in
            try refusing(at: "/secure_message") { () throws(TextRefusal) in try DisplayMessage(text) }
        }
        details = try Self.details(try members.array("details"))
        try DisplayLimits.check(secureMessage, details)
        signingData = try members.optional("signing_data", "a string that is not empty, without U+0000") {
            $0.string.flatMap { SigningData($0) }
        }
        context = try members.value("context").flatMap { try Self.context($0, at: members.pointer(to: "context")) }
        browser = try members.optional("browser", BrowserID.expected) { $0.string.flatMap { BrowserID($0) } }
        numberEntry = try members.optionalBool("number_entry")
        lifetime = try members.optionalSeconds("expires_in", in: 10...ChallengeType.longestLifetime)
        methods = try members.optional("methods", "an array of one or more known methods, each once") { value in
            value.eachOnce { AnswerMethod(rawValue: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        enrollments = try members.optional("enrollments", "an array of one or more enrollment ids") { value in
            value.each { EnrollmentID($0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        callbackURI = try members.optionalString("callback_uri").map(CallbackURI.init(named:))
        returnURI = try members.optionalString("return_uri").map(ReturnURI.init(named:))
        phone = try members.optional("phone", "a telephone number with + and the country's code") {
            $0.string.flatMap { PhoneNumber($0) }
        }
        captchaToken = try members.optional("captcha_token", CaptchaToken.expected) {
            $0.string.flatMap { CaptchaToken($0) }
        }
        locale = try members.optional("locale", "a language tag of at most 35 letters, digits and hyphens") {
            $0.string.flatMap { RequestedLanguage($0) }
        }
        clientState = try members.optional(
            "state", "a string of at most \(Self.maximumStateLength) bytes, without U+0000"
        ) {
            $0.string.flatMap { $0.utf8.count > Self.maximumStateLength || $0.utf8.contains(0) ? nil : $0 }
        }
        try members.refuseUnknown()
    }

    private static func details(_ elements: [(value: JSONValue, pointer: String)]) throws -> [Detail] {
        guard elements.count <= maximumDetails else {
            throw JSONShapeError.invalid(pointer: "/details", expected: "an array of at most \(maximumDetails) details")
        }
        return try elements.map { element in
            var members = try JSONMembers(element.value, at: element.pointer)
            let label = try members.string("label")
            let value = try members.string("value")
            try members.refuseUnknown()
            // The value is checked first, so a refusal by the initializer below can only concern the label.
            _ = try refusing(at: members.pointer(to: "value")) { () throws(TextRefusal) in try DisplayLine(value) }
            return try refusing(at: members.pointer(to: "label")) { () throws(TextRefusal) in
                try Detail(label: label, value: value)
            }
        }
    }

    private static func context(_ json: JSONValue, at pointer: String) throws(JSONShapeError) -> ContextLine? {
        var members = try JSONMembers(json, at: pointer)
        let address = try members.optionalString("ip")
        let userAgent = try members.optional("user_agent", "a string of at most 1024 bytes") {
            $0.string.flatMap { $0.utf8.count <= 1024 ? $0 : nil }
        }
        try members.refuseUnknown()
        if address == nil, userAgent == nil { return nil }
        guard let context = ContextLine(address: address, userAgent: userAgent) else {
            throw JSONShapeError.invalid(pointer: members.pointer(to: "ip"), expected: "an IPv4 or IPv6 address")
        }
        return context
    }
}
