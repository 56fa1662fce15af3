import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes

/// A refusal of a call for mobile authentication, with OneWelcome's number.
struct OneWelcomeError: Error, Hashable {
    /// The numbers that this server gives, with the status and the word of each.
    enum Number: Int64, CaseIterable, Sendable {
        case disabled = 1000
        case noPossibility = 1001
        case providerFailed = 1002
        case parameterInvalid = 1003
        case messageTooLong = 1005
        case textsDisabled = 3000
        case phoneMissing = 3001
        case textNotSent = 3002
        case codeInvalid = 3003
        case transactionInvalid = 3004
        case userInvalid = 3005
        case resendLimit = 3006
        case typeNotFound = 4000

        var status: Int {
            switch self {
            case .parameterInvalid, .messageTooLong, .phoneMissing: 400
            case .resendLimit: 403
            case .disabled, .noPossibility, .textsDisabled, .codeInvalid, .transactionInvalid, .userInvalid,
                .typeNotFound:
                404
            case .providerFailed, .textNotSent: 503
            }
        }

        fileprivate var word: String {
            switch self {
            case .parameterInvalid, .messageTooLong, .phoneMissing: "invalid_request"
            case .codeInvalid: "invalid_verification_code"
            case .resendLimit: "resend_limit_reached"
            case .disabled, .noPossibility, .textsDisabled, .transactionInvalid, .userInvalid, .typeNotFound:
                "not_found"
            case .providerFailed, .textNotSent: "temporarily_unavailable"
            }
        }

        fileprivate var description: String {
            switch self {
            case .disabled: "the client may not make these calls"
            // One description for all: it must not tell whether there is such a user.
            case .noPossibility: "there is no such user, or nothing that the user could answer by"
            case .providerFailed: "a service that is needed cannot be asked"
            case .parameterInvalid: "a parameter is missing or wrong"
            case .messageTooLong: "the message is too long"
            case .textsDisabled: "text messages are not set up"
            case .phoneMissing: "phone_number is missing"
            case .textNotSent: "the text message cannot be sent now"
            case .codeInvalid: "the code is not the one that was sent, or was typed too often"
            case .transactionInvalid: "there is no such transaction, or it is over"
            case .userInvalid: "the transaction is not of this user"
            case .resendLimit: "it is sent no more: begin anew"
            case .typeNotFound: "there is no such type"
            }
        }
    }

    let number: Number
    /// What happened, for the portal's developer.
    let description: String
    /// When to try again, where there were too many requests; nil otherwise.
    let retryAfter: Seconds?

    init(_ number: Number, _ description: String? = nil, retryAfter: Seconds? = nil) {
        self.number = number
        self.description = description ?? number.description
        self.retryAfter = retryAfter
    }

    static func missing(_ name: String) -> OneWelcomeError {
        OneWelcomeError(.parameterInvalid, "\(name) is missing")
    }

    var rendered: RenderedRefusal {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let retryAfter { headers[.retryAfter] = "\(retryAfter.value)" }
        let json: JSONValue = [
            "error": .string(retryAfter == nil ? number.word : "temporarily_unavailable"),
            "error_description": .string(description), "error_code": .integer(number.rawValue),
        ]
        return RenderedRefusal(
            status: retryAfter == nil ? number.status : 429, headers: headers, body: json.encoded,
            code: "onewelcome_\(number.rawValue)", detail: description)
    }
}

extension OneWelcomeError {
    /// Why nobody was asked.
    init(asking refusal: AskChallenge.Refusal) throws(OAuthError) {
        switch refusal {
        case .caller(let refusal): throw OAuthError(caller: refusal)
        case .userMissing: self = .missing("user_id")
        case .userNotFound, .noEnrollment, .enrollmentNotFound, .reported: self.init(.noPossibility)
        case .typeNotFound: self.init(.typeNotFound)
        case .messageMissing: self.init(.parameterInvalid, "message is missing, and the type has no text of its own")
        case .notAllowedByType(let part): self.init(.parameterInvalid, "the type does not allow it: \(part)")
        case .callbackNotRegistered: self.init(.parameterInvalid, "callback_uri is not registered")
        case .returnNotRegistered: self.init(.parameterInvalid)
        case .phoneMissing: self.init(.phoneMissing)
        case .textsNotSetUp: self.init(.textsDisabled)
        case .tooManyTexts(let seconds): self.init(.textNotSent, retryAfter: seconds)
        case .captchaMissing, .captchaRefused:
            self.init(.parameterInvalid, "the type needs a captcha, which these calls cannot bring")
        case .captchaUnavailable: self.init(.providerFailed)
        case .tooManyCaptchas(let seconds), .tooManyAsks(let seconds):
            self.init(.noPossibility, "the user was asked too often", retryAfter: seconds)
        case .tooManyPending: self.init(.noPossibility, "the user has too many open questions", retryAfter: 1)
        }
    }
}

extension OAuthError {
    /// The error for a caller that may call no more.
    init(caller refusal: CallerRefusal) {
        switch refusal {
        case .unknown, .disabled: self.init(.invalidClient, "the client's id and secret do not fit")
        case .rightMissing: self.init(.unauthorizedClient, "the client has no such right")
        }
    }
}

/// A refusal of a call about devices.
struct OneWelcomeDeviceError: Error {
    /// The codes, with the status of each.
    enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case unauthorized
        case insufficientPermissions = "insufficient_permissions"
        case notAllDeleted = "not_all_devices_deleted"

        fileprivate var status: Int {
            switch self {
            case .invalidRequest: 400
            case .unauthorized: 401
            case .insufficientPermissions: 403
            case .notAllDeleted: 500
            }
        }
    }

    let code: Code
    let message: String
    /// The devices that were not deleted.
    var kept: [String] = []

    var rendered: RenderedRefusal {
        let details = kept.map { id in
            let status: JSONValue = [
                "code": "device_not_deleted", "message": "the user has no such device", "details": [],
            ]
            return JSONValue.members(["id": .string(id), "status": status])
        }
        var headers: HTTPFields = [.contentType: "application/json"]
        if code == .unauthorized { headers[.wwwAuthenticate] = "Basic realm=\"countersign\"" }
        let json: JSONValue = [
            "code": .string(code.rawValue), "message": .string(message), "details": .array(details),
        ]
        return RenderedRefusal(
            status: code.status, headers: headers, body: json.encoded, code: code.rawValue, detail: message)
    }
}
