/// The stable code of a problem, with its HTTP status and what to do about it.
///
/// `docs/reference/errors.md` is made from this list.
public enum ProblemCode: String, CaseIterable, Sendable {
    // Requests as such
    case malformedRequest = "malformed_request"
    case malformedJSON = "malformed_json"
    case invalidUTF8 = "invalid_utf8"
    case unknownMember = "unknown_member"
    case missingMember = "missing_member"
    case invalidMember = "invalid_member"
    case textRefused = "text_refused"
    case invalidParameter = "invalid_parameter"
    case bodyTooLarge = "body_too_large"
    case bodyTooSlow = "body_too_slow"
    case unsupportedMediaType = "unsupported_media_type"
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case invalidIdempotencyKey = "invalid_idempotency_key"
    case idempotencyConflict = "idempotency_conflict"
    case tooManyWaits = "too_many_waits"
    case rateLimited = "rate_limited"
    case internalError = "internal_error"
    case unavailable = "unavailable"

    // Clients and operators
    case unauthorized = "unauthorized"
    case rightMissing = "right_missing"
    case clientDisabled = "client_disabled"
    case typeNotFound = "type_not_found"
    case typeInUse = "type_in_use"
    case externalIDTaken = "external_id_taken"
    case addressTaken = "address_taken"
    case userNotFound = "user_not_found"
    case enrollmentNotFound = "enrollment_not_found"
    case passkeyNotFound = "passkey_not_found"
    case addressNotFound = "address_not_found"
    case clientNotFound = "client_not_found"
    case messageNotFound = "message_not_found"
    case messageOver = "message_over"
    case transportNotSetUp = "transport_not_set_up"
    case keyUseNotFound = "key_use_not_found"
    case rotationUnderWay = "rotation_under_way"
    case issuerCertificateFull = "issuer_certificate_full"
    case logoRefused = "logo_refused"
    case contrastTooLow = "contrast_too_low"

    // Asking
    case noEnrollment = "no_enrollment"
    case notAllowedByType = "not_allowed_by_type"
    case callbackNotRegistered = "callback_not_registered"
    case returnNotRegistered = "return_not_registered"
    case returnCodeInvalid = "return_code_invalid"
    case askingLocked = "asking_locked"
    case tooManyPending = "too_many_pending"
    case tooManyAsks = "too_many_asks"
    case tooManyResends = "too_many_resends"
    case tooManyTexts = "too_many_texts"
    case captchaMissing = "captcha_missing"
    case captchaRefused = "captcha_refused"
    case captchaUnavailable = "captcha_unavailable"
    case codeIncorrect = "code_incorrect"
    case challengeNotFound = "challenge_not_found"
    case alreadyEnded = "already_ended"
    case noReceipt = "no_receipt"
    case noCode = "no_code"
    case alreadyClaimed = "already_claimed"

    // Devices
    case signatureMissing = "signature_missing"
    case signatureInvalid = "signature_invalid"
    case clockSkew = "clock_skew"
    case nonceReplayed = "nonce_replayed"
    case unknownEnrollment = "unknown_enrollment"
    case deviceDeregistered = "device_deregistered"
    case scopeMissing = "scope_missing"
    case signInTooOld = "sign_in_too_old"
    case signInTooWeak = "sign_in_too_weak"
    case ticketInvalid = "ticket_invalid"
    case ticketUsed = "ticket_used"
    case ticketExpired = "ticket_expired"
    case certificateInvalid = "certificate_invalid"
    case alreadyEnrolled = "already_enrolled"
    case tooManyDevices = "too_many_devices"
    case codeInvalid = "code_invalid"
    case codeExpired = "code_expired"
    case enrollmentBlocked = "enrollment_blocked"
    case enrollmentWaiting = "enrollment_waiting"
    case enrollmentSuspended = "enrollment_suspended"
    case pushTokenInUse = "push_token_in_use"
    case userNotLinked = "user_not_linked"
    case enrollmentNotConfirmed = "enrollment_not_confirmed"
    case methodMissing = "method_missing"
    case answerInvalid = "answer_invalid"
    case pinIncorrect = "pin_incorrect"
    case pinLocked = "pin_locked"
    case customRetry = "custom_retry"
    case customFailed = "custom_failed"
    case customNotRegistered = "custom_not_registered"
    case customUnavailable = "custom_unavailable"
    case changeInvalid = "change_invalid"
    case changeNotAuthorized = "change_not_authorized"
    case certificateFull = "certificate_full"
}

extension ProblemCode {
    /// The meaning of a code.
    public struct Meaning: Sendable {
        /// The HTTP status.
        public let status: Int
        /// What happened, in a few words: the `title`.
        public let title: String
        /// What to do about it.
        public let cure: String
        /// Whether the same request can succeed later.
        public let retryHelps: Bool

        init(_ status: Int, _ title: String, _ cure: String, retryHelps: Bool = false) {
            self.status = status
            self.title = title
            self.cure = cure
            self.retryHelps = retryHelps
        }
    }

    /// The meaning of the code.
    public var meaning: Meaning {
        switch self {
        case .malformedRequest:
            Meaning(
                400, "This is no HTTP request",
                "Send one field `Host`, and a path or a URL in visible ASCII; `detail` says what is wrong.")
        case .malformedJSON:
            Meaning(400, "The body is not JSON", "Send one JSON object, each name once; `detail` says where it broke.")
        case .invalidUTF8:
            Meaning(400, "The body is not UTF-8", "Encode the body as UTF-8 without a byte order mark.")
        case .unknownMember:
            Meaning(422, "A member is unknown", "Remove the member that `pointer` names, or mend its spelling.")
        case .missingMember:
            Meaning(422, "A member is missing", "Add the member that `pointer` names.")
        case .invalidMember:
            Meaning(
                422, "A member has a wrong value",
                "Mend the member that `pointer` names; `detail` says what it must be.")
        case .textRefused:
            Meaning(
                422, "A text may not be shown", "Mend the text that `pointer` names; `reason` says what could deceive.")
        case .invalidParameter:
            Meaning(400, "A query parameter has a wrong value", "Mend the parameter that `parameter` names.")
        case .bodyTooLarge:
            Meaning(413, "The body is too large", "Send at most 256 KiB.")
        case .bodyTooSlow:
            Meaning(408, "The body did not come in time", "Send it within 30 seconds of its head.", retryHelps: true)
        case .unsupportedMediaType:
            Meaning(
                415, "The body is not said to be JSON", "Send it uncompressed, with `Content-Type: application/json`.")
        case .notFound:
            Meaning(404, "There is nothing here", "Check the path against the OpenAPI document.")
        case .methodNotAllowed:
            Meaning(405, "This method does not work here", "Use one of the methods in `Allow`.")
        case .invalidIdempotencyKey:
            Meaning(
                400, "The idempotency key is malformed, or missing where one is needed",
                "Send 1 to 255 visible ASCII characters.")
        case .idempotencyConflict:
            Meaning(422, "The idempotency key was used for another request", "Use a new key for a new request.")
        case .tooManyWaits:
            Meaning(429, "Too many requests are waiting", "End some of the waits, then try again.", retryHelps: true)
        case .rateLimited:
            Meaning(429, "Too many attempts", "Wait `retry_after` seconds, then try again.", retryHelps: true)
        case .internalError:
            Meaning(
                500, "The server failed", "Try again; if it stays, tell the operator `request_id`.", retryHelps: true)
        case .unavailable:
            Meaning(503, "The server cannot do this now", "Try again in a while.", retryHelps: true)
        case .unauthorized:
            Meaning(401, "The caller is not known", "Send the client's id and secret, or a valid operator's token.")
        case .rightMissing:
            Meaning(403, "The client may not do this", "Have the operator grant the right that `right` names.")
        case .clientDisabled:
            Meaning(403, "The client is disabled", "Ask the operator why, who can enable it again.")
        case .typeNotFound:
            Meaning(
                404, "There is no such challenge type", "Check the name, or make the type with `countersign type set`.")
        case .keyUseNotFound:
            Meaning(404, "No key has this use", "Look at `countersign admin issuer-key list`.")
        case .issuerCertificateFull:
            Meaning(
                409, "The issuer's certificate has no room for another key",
                "Nearly sixty rotations of its subkeys fit; the push key rotates on.")
        case .logoRefused:
            Meaning(
                422, "The logo cannot be used",
                "Send a PNG of at most 64 KiB and 1024 by 1024 pixels; `reason` and `detail` say what is wrong.")
        case .contrastTooLow:
            Meaning(
                422, "A colour is hard to read",
                "Take a darker colour on the light panel, a lighter one on the dark one; `contrast` is what it has.")
        case .rotationUnderWay:
            Meaning(
                409, "The next key waits for its time already",
                "Nothing to do; or hasten it with `countersign admin issuer-key rotate --now`.")
        case .typeInUse:
            Meaning(
                409, "Others ask by this challenge type",
                "Name another type in the `types` and in the OpenID settings of the `clients` first, or remove them.")
        case .externalIDTaken:
            Meaning(409, "Another user has this external id", "Use the user that has it, or another external id.")
        case .addressTaken:
            Meaning(409, "Another user of yours has this address", "Take it from that user first, or use that user.")
        case .userNotFound:
            Meaning(404, "There is no such user", "Check the id; a client sees only the users linked to it.")
        case .enrollmentNotFound:
            Meaning(404, "There is no such enrollment", "Check the id; removed enrollments cannot be asked.")
        case .passkeyNotFound:
            Meaning(404, "The user has no such passkey", "List the user's passkeys; a removed one is gone.")
        case .addressNotFound:
            Meaning(404, "The user has proved no such address", "List the user's addresses.")
        case .noEnrollment:
            Meaning(409, "No device of this user can answer", "Have the user enroll a device, with a ticket.")
        case .notAllowedByType:
            Meaning(
                422, "The challenge type does not allow this",
                "A request can only tighten its type: leave out what `pointer` names.")
        case .callbackNotRegistered:
            Meaning(
                422, "The callback is not registered", "Use one of the client's callback URLs, exactly as registered.")
        case .returnNotRegistered:
            Meaning(
                422, "The place to return to is not registered",
                "Use one of the client's return URLs, exactly as registered.")
        case .returnCodeInvalid:
            Meaning(
                422, "The return code is not valid",
                "Present it for the challenge that this very browser session has asked; if it was, start again.")
        case .askingLocked:
            Meaning(
                409, "The user has reported a question of this client",
                "Find out who started it; then an operator ends the lock with `countersign admin locks end`.")
        case .tooManyPending:
            Meaning(
                429, "The user has too many open challenges", "Wait until one is answered, or cancel one.",
                retryHelps: true)
        case .tooManyAsks:
            Meaning(
                429, "The user was asked too often without approving", "Wait `retry_after` seconds.", retryHelps: true)
        case .tooManyResends:
            Meaning(
                429, "The challenge was announced too often",
                "Wait for the answer, or ask anew: `max_resends` of the type is the limit.")
        case .tooManyTexts:
            Meaning(
                429, "The telephone number has had too many text messages", "Wait `retry_after` seconds.",
                retryHelps: true)
        case .captchaMissing:
            Meaning(
                422, "A captcha must be solved before a code is sent",
                "Have the user solve the one that `captcha` names, and ask anew with its token as `captcha_token`.")
        case .captchaRefused:
            Meaning(
                422, "The captcha's token is not good",
                "Have the user solve another one: a token is good once, for a few minutes, and for the site it is of.")
        case .captchaUnavailable:
            Meaning(
                503, "The captcha's provider cannot be asked now",
                "Try again in a while, with a new token; the operator finds the reason in the server's log.",
                retryHelps: true)
        case .codeIncorrect:
            Meaning(
                422, "The code is wrong",
                "Have the user type the code of the text message again; `attempts_left` says how often.")
        case .clientNotFound:
            Meaning(404, "There is no such client", "Check the id; the operator's own client cannot be changed.")
        case .messageNotFound:
            Meaning(404, "There is no such message", "Check the id; what has arrived is not kept.")
        case .messageOver:
            Meaning(409, "The message's time is over", "Nothing to do: its content is gone.")
        case .transportNotSetUp:
            Meaning(
                409, "Such messages are not set up",
                "Set a mail server, or a gateway for text messages, in the settings.")
        case .challengeNotFound:
            Meaning(404, "There is no such challenge", "Check the id.")
        case .alreadyEnded:
            Meaning(409, "The challenge has ended", "Nothing to do: `state` and `reason` say how it ended.")
        case .noReceipt:
            Meaning(404, "The challenge has no receipt", "Only an approved, denied or reported challenge has one.")
        case .noCode:
            Meaning(
                404, "The challenge has no code", "Ask by a type with `qr`, and without `enrollments`, to show a code.")
        case .alreadyClaimed:
            Meaning(
                409, "A device has claimed the challenge",
                "Nothing to show: wait for the answer. On a device: start again where the code was.")
        case .signatureMissing:
            Meaning(401, "The request is not signed", "Sign it as docs/protocol/requests.md says.")
        case .signatureInvalid:
            Meaning(401, "The request's signature is refused", "Check what is covered, the issuer's URL and the key.")
        case .clockSkew:
            Meaning(401, "The device's clock is off", "Correct by `server_time` and sign again.", retryHelps: true)
        case .nonceReplayed:
            Meaning(401, "The request was sent before", "Sign every request anew, with a nonce of its own.")
        case .unknownEnrollment:
            Meaning(401, "The enrollment is not known", "Check issuer and enrollment; do not wipe anything on this.")
        case .deviceDeregistered:
            Meaning(403, "The enrollment was removed", "Verify `notice` and wipe the enrollment's keys.")
        case .scopeMissing:
            Meaning(
                403, "The access token is not for this", "Have the person sign in with the scope that `scope` names.")
        case .signInTooOld:
            Meaning(403, "The person signed in too long ago", "Have the person sign in again, with the scope `enroll`.")
        case .signInTooWeak:
            Meaning(
                403, "The person has a device or a passkey, and did not sign in by it",
                "Have the person sign in by it, with `acr_values`; or remove it on the account page first.")
        case .ticketInvalid:
            Meaning(403, "The ticket is not known", "Have a new ticket made.")
        case .ticketUsed:
            Meaning(403, "The ticket was used before", "Have a new ticket made; each enrolls one device.")
        case .ticketExpired:
            Meaning(403, "The ticket has expired", "Have a new ticket made; each lives 10 minutes.")
        case .certificateInvalid:
            Meaning(
                422, "The device's certificate is refused",
                "Make it as docs/protocol/enrollment.md says; `detail` tells what is wrong.")
        case .alreadyEnrolled:
            Meaning(409, "This key was enrolled before", "Make new keys for every enrollment.")
        case .tooManyDevices:
            Meaning(409, "The user has as many devices as there may be", "Remove one of them, then use the ticket.")
        case .codeInvalid:
            Meaning(422, "The code is not valid", "Scan the code again from the page that shows it.")
        case .codeExpired:
            Meaning(
                422, "The code was shown too long ago",
                "Scan the code that is shown now; each works for a minute.")
        case .enrollmentBlocked:
            Meaning(
                403, "The user may enroll no device",
                "Have the client end the block: `enrollment_blocked` of the user, false.")
        case .enrollmentWaiting:
            Meaning(
                409, "The device waits to be approved by another one",
                "Approve it on a device that the user has, or wait for what `waiting_until` of the enrollment says.")
        case .enrollmentSuspended:
            Meaning(
                403, "The device is suspended",
                "Resume it on another device, on the account page or by the operator; it can only remove itself.")
        case .pushTokenInUse:
            Meaning(
                409, "Another enrollment of the user has this push token",
                "Remove the user's other enrollment on this device, then register again.")
        case .userNotLinked:
            Meaning(
                403, "The one who asks does not know this user",
                "Enroll through that client first, or have it make the user.")
        case .enrollmentNotConfirmed:
            Meaning(
                403, "A client of another group enrolled the device, and its user has not confirmed it",
                "Enroll through the client that asks, or have the operator confirm this device.")
        case .methodMissing:
            Meaning(
                409, "The device cannot answer by what is allowed",
                "Set what `methods` names, such as a PIN, or use another device; the code can still be scanned.")
        case .answerInvalid:
            Meaning(422, "The answer is refused", "Fetch the challenge again and sign exactly its receipt.")
        case .pinIncorrect:
            Meaning(
                422, "The PIN is wrong",
                "Have the user type it again; `attempts_left` says how often, and the same challenge can be answered.")
        case .pinLocked:
            Meaning(
                409, "The PIN is locked", "Enroll the device anew: a wrong PIN was typed too often. No is still heard.")
        case .customRetry:
            Meaning(
                422, "The custom authenticator wants another try",
                "Have the user try again; `attempts_left` says how often, and `payload` is for the app.")
        case .customFailed:
            Meaning(
                422, "The custom authenticator refused",
                "Answer by another method; the authenticator is registered no more, and `payload` is for the app.")
        case .customNotRegistered:
            Meaning(
                409, "The custom authenticator is not registered for this device",
                "Register it, or answer by another method.")
        case .customUnavailable:
            Meaning(
                503, "The custom authenticator cannot be asked now",
                "Answer by another method, or try again in a while; nothing was counted.", retryHelps: true)
        case .changeInvalid:
            Meaning(
                422, "The change is refused",
                "Fetch the methods and their nonce again, and make the change as docs/protocol/methods.md says.")
        case .changeNotAuthorized:
            Meaning(
                403, "The change is not authorized",
                "Authorize it by what `needs` names: PIN, biometric, any method of the user, or a ticket of theirs.")
        case .certificateFull:
            Meaning(
                409, "The device's certificate has no room for a further change",
                "Enroll the device anew; `changes_left` among its methods tells so in time.")
        }
    }
}
