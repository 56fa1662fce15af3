import CountersignCore
import CountersignWire
import Encodings

/// What a portal asks, read from the form of OneWelcome's `authenticate/user`.
///
/// Parameters that the type has no use for are ignored, and so are unknown ones.
struct OneWelcomeQuestion {
    /// The versions of the calls.
    enum Version: String, CaseIterable, Sendable {
        /// A user has one app, whose devices are all asked; nothing is said of where it was begun.
        case v3
        /// A device is named.
        case v4
    }

    /// The longest `User-Agent`, as at the native API.
    private static let longestUserAgent = 1024

    /// The question in our own words.
    let request: AskChallenge.Request

    /// Reads a form.
    ///
    /// - Parameters:
    ///   - form: the form.
    ///   - user: whom its `user_id` names; nil for nobody.
    ///   - type: the type that it names.
    ///   - client: the portal.
    ///   - version: the version of the call.
    init(
        _ form: FormFields, for user: UserReference?, by type: ChallengeType, of client: ClientID, _ version: Version
    ) throws(OneWelcomeError) {
        var request = AskChallenge.Request(
            user: try Self.user(user, form, by: type), type: type.name, message: try Self.message(form, by: type))
        if type.channel != .text {
            request.callbackURI = CallbackURI(named: try Self.required("callback_uri", in: form))
            request.callbackForm = .oneWelcome
            request.secureMessage = try Self.secureMessage(form)
        }
        if type.channel == .devices { request.enrollments = try Self.devices(form, by: type, of: client, version) }
        if type.channel == .text || type.fallback != nil { request.phone = try Self.phone(form) }
        if type.channel == .devices, type.signingData, let text = form["signing_data"] {
            guard let data = SigningData(text) else { throw Self.invalid("signing_data cannot be signed") }
            request.signingData = data
        }
        if let text = form["language_code"] {
            guard let language = RequestedLanguage(text) else { throw Self.invalid("language_code is no language") }
            request.locale = language
        }
        if version == .v4 { request.context = Self.context(form) }
        self.request = request
    }

    private static func user(
        _ user: UserReference?, _ form: FormFields, by type: ChallengeType
    ) throws(OneWelcomeError) -> UserReference? {
        guard type.channel != .code else {
            // check: OneWelcomeAskTests.refusals
            guard form["user_id"] == nil else { throw invalid("user_id does not go with a code that anybody can scan") }
            return nil
        }
        _ = try required("user_id", in: form)
        guard let user else { throw OneWelcomeError(.noPossibility) }
        return user
    }

    /// The message; nil for the type's own.
    private static func message(
        _ form: FormFields, by type: ChallengeType
    ) throws(OneWelcomeError) -> DisplayMessage? {
        // Where a code is sent, the server writes the text around it.
        guard let text = form["message"], type.channel != .text || !text.contains("{code}") else { return nil }
        return try shown(text, "message", atMost: PushAlert.maximumMessageLength)
    }

    private static func secureMessage(_ form: FormFields) throws(OneWelcomeError) -> DisplayMessage? {
        guard let text = form["secure_message"] else { return nil }
        let message = try shown(text, "secure_message", atMost: .max)
        // check: OneWelcomeAskTests.refusals
        guard (try? DisplayLimits.check(message, [])) != nil else {
            throw OneWelcomeError(.messageTooLong, "secure_message is too long")
        }
        return message
    }

    private static func shown(
        _ text: String, _ name: String, atMost limit: Int
    ) throws(OneWelcomeError) -> DisplayMessage {
        do throws(TextRefusal) {
            // Lines of a form end as those of HTTP do.
            return try DisplayMessage(text.replacing("\r\n", with: "\n"), atMost: limit)
        } catch {
            guard error != .tooLong else { throw OneWelcomeError(.messageTooLong, "\(name) is too long") }
            throw invalid("\(name) cannot be shown: \(error.rawValue)")
        }
    }

    /// The devices that are asked; nil for all that can answer.
    private static func devices(
        _ form: FormFields, by type: ChallengeType, of client: ClientID, _ version: Version
    ) throws(OneWelcomeError) -> [EnrollmentID]? {
        switch version {
        case .v3:
            // A client has one app, which has the client's name.
            let app = try required("app_id", in: form)
            // check: OneWelcomeAskTests.version3
            guard app.hasSameBytes(as: "\(client)") else { throw OneWelcomeError(.noPossibility) }
            return nil
        case .v4:
            // Somebody without a device gets a code by text message, if the type says so.
            guard form["device_id"] != nil || type.fallback == nil else { return nil }
            guard let device = EnrollmentID(try required("device_id", in: form)) else {
                throw OneWelcomeError(.noPossibility)
            }
            return [device]
        }
    }

    private static func phone(_ form: FormFields) throws(OneWelcomeError) -> PhoneNumber? {
        guard let text = form["phone_number"] else { return nil }
        // A plus sign that was not escaped has become a blank.
        guard let phone = PhoneNumber(text.utf8.first == UInt8(ascii: " ") ? "+\(text.dropFirst())" : text) else {
            throw invalid("phone_number is no number with + and the country's code")
        }
        return phone
    }

    /// From where it was begun; what cannot be read is left out, and refuses no request.
    private static func context(_ form: FormFields) -> ContextLine? {
        let userAgent = form["user_agent"].flatMap { $0.utf8.count <= longestUserAgent ? $0 : nil }
        return ContextLine(address: form["ip_address"], userAgent: userAgent)
            ?? ContextLine(address: nil, userAgent: userAgent)
    }

    private static func required(_ name: String, in form: FormFields) throws(OneWelcomeError) -> String {
        guard let value = form[name] else { throw OneWelcomeError.missing(name) }
        return value
    }

    private static func invalid(_ description: String) -> OneWelcomeError {
        OneWelcomeError(.parameterInvalid, description)
    }
}
