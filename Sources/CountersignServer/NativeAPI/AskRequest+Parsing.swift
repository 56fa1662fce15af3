import CountersignCore
import CountersignWire
import Encodings

extension AskChallenge.Request {
    private static let maximumDetails = 32
    private static let maximumStateLength = 1024

    /// Parses the body of `POST /v1/challenges`.
    init(_ json: JSONValue) throws {
        var members = try JSONMembers(json)
        self.init(
            user: try members.optional("user", "a user's id, or external_id: and the client's own name") {
                $0.string.flatMap { UserReference($0) }
            },
            type: try members.required("type", "the name of a challenge type") { $0.string.flatMap { TypeName($0) } },
            message: try members.optionalString("message").map { text in
                try Self.text(text, at: "/message") { text throws(TextRefusal) in
                    try DisplayMessage(text, atMost: PushAlert.maximumMessageLength)
                }
            })
        if let text = try members.optionalString("secure_message") {
            secureMessage = try Self.text(text, at: "/secure_message") { text throws(TextRefusal) in
                try DisplayMessage(text)
            }
        }
        details = try Self.details(try members.array("details"))
        try DisplayLimits.check(secureMessage, details)
        signingData = try members.optional("signing_data", "a string that is not empty, without U+0000") {
            $0.string.flatMap { SigningData($0) }
        }
        if let context = members.value("context") {
            self.context = try Self.context(context, at: members.pointer(to: "context"))
        }
        browser = try members.optional("browser", BrowserID.expected) { $0.string.flatMap { BrowserID($0) } }
        numberEntry = try members.optionalBool("number_entry")
        lifetime = try members.optionalSeconds("expires_in", in: 10...Seconds.days(1))
        methods = try members.optional("methods", "an array of one or more known methods, each once") {
            let methods = $0.array?.map { $0.string.flatMap(AnswerMethod.init(rawValue:)) }
            guard let methods, !methods.isEmpty, !methods.contains(nil), Set(methods).count == methods.count else {
                return nil
            }
            return methods.compactMap { $0 }
        }
        enrollments = try members.optional("enrollments", "an array of one or more enrollment ids") {
            let ids = $0.array?.map { $0.string.flatMap { EnrollmentID($0) } }
            guard let ids, !ids.isEmpty, !ids.contains(nil) else { return nil }
            return ids.compactMap { $0 }
        }
        callbackURI = try members.optionalString("callback_uri").map(CallbackURI.init(named:))
        returnURI = try members.optionalString("return_uri").map(ReturnURI.init(named:))
        phone = try members.optional("phone", "a telephone number with + and the country's code") {
            $0.string.flatMap { PhoneNumber($0) }
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

    private static func text<Value>(
        _ text: String, at pointer: String, _ accept: (String) throws(TextRefusal) -> Value
    ) throws(RefusedText) -> Value {
        do { return try accept(text) } catch { throw RefusedText(error, at: pointer) }
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
            _ = try text(value, at: members.pointer(to: "value")) { value throws(TextRefusal) in
                try DisplayLine(value)
            }
            return try text(label, at: members.pointer(to: "label")) { label throws(TextRefusal) in
                try Detail(label: label, value: value)
            }
        }
    }

    private static func context(_ json: JSONValue, at pointer: String) throws -> ContextLine? {
        var members = try JSONMembers(json, at: pointer)
        let address = try members.optionalString("ip")
        let userAgent = try members.optional("user_agent", "a string of at most 1024 bytes") {
            $0.string.flatMap { $0.utf8.count <= 1024 ? $0 : nil }
        }
        try members.refuseUnknown()
        if address == nil, userAgent == nil { return nil }
        guard let line = ContextLine(address: address, userAgent: userAgent) else {
            throw JSONShapeError.invalid(pointer: members.pointer(to: "ip"), expected: "an IPv4 or IPv6 address")
        }
        return line
    }
}
