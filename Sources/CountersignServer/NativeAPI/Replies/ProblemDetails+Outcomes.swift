import CountersignCore
import CountersignWire
import Encodings
import OpenPGP

/// Maps refusals that several operations share to problems of the native API.
///
/// Each initializer has a label, for the reason that the wire module gives for its own.
extension ProblemDetails {
    /// The problem for a request that no handler answered.
    init(failure: RequestFailure) {
        switch failure {
        case .malformed(let fault): self.init(.malformedRequest, detail: "\(fault)")
        case .malformedQuery: self.init(.invalidParameter, detail: "the query is malformed")
        case .unknownPath: self.init(.notFound)
        case .methodNotAllowed(let allowed): self.init(.methodNotAllowed, members: ["allowed": .string(allowed)])
        case .bodyTooLarge: self.init(.bodyTooLarge)
        case .bodyTooSlow: self.init(.bodyTooSlow)
        case .bodyIncomplete: self.init(.malformedJSON, detail: "the body did not arrive whole")
        case .unavailable: self.init(.unavailable)
        case .noRoom: self.init(.unavailable, detail: "there is no room on the database's disk")
        case .overloaded:
            self.init(.unavailable, detail: "the server has too many requests", members: ["retry_after": 1])
        case .fault: self.init(.internalError)
        }
    }

    /// The problem for a request that cannot be parsed, or whose caller is not authorized.
    init(request refusal: RequestRefusal) {
        switch refusal {
        case .notJSON: self.init(.unsupportedMediaType)
        case .unknownParameter(let name): self.init(parameter: name, detail: "\(name) is not known")
        case .invalidParameter(let name, let expected):
            self.init(parameter: name, detail: "\(name) must be \(expected)")
        case .unfitParameter(let name, let why): self.init(parameter: name, detail: why)
        case .invalidIdempotencyKey: self.init(.invalidIdempotencyKey)
        case .noSuch(let resource, let detail): self.init(resource.code, detail: detail)
        case .unauthorized(let detail): self.init(.unauthorized, detail: detail)
        case .noToken: self.init(.unauthorized, detail: "send the access token as Authorization: Bearer or DPoP")
        case .invalidToken:
            self.init(
                .unauthorized,
                detail: "the access token is not good, is over, or not bound as it was sent: get another one")
        case .tooManyFailures(let seconds): self.init(.rateLimited, members: ["retry_after": .integer(seconds.value)])
        case .signature(let error): self.init(signature: error)
        case .clientDisabled: self.init(.clientDisabled)
        case .rightMissing(let right): self.init(.rightMissing, members: ["right": .string(right)])
        }
    }

    private init(parameter name: String, detail: String) {
        self.init(.invalidParameter, detail: detail, members: ["parameter": .string(name)])
    }

    /// The problem for a caller that already has the maximum number of waiting requests.
    init(waits error: Waits.TooMany) {
        self.init(.tooManyWaits, members: ["retry_after": .integer(error.retryAfter.value)])
    }

    /// The problem for a request with a refused signature.
    init(signature error: MessageSignatureError) {
        switch error {
        case .missing: self.init(.signatureMissing)
        case .malformed: self.init(.signatureInvalid, detail: "the fields are not those of RFC 9421")
        case .several: self.init(.signatureInvalid, detail: "there must be exactly one signature")
        case .parameter(let name): self.init(.signatureInvalid, detail: "the parameter \(name) is not as it must be")
        case .coverage(let name):
            self.init(.signatureInvalid, detail: "\(name) must be covered if and only if the request has it")
        case .digest: self.init(.signatureInvalid, detail: "the body is not the one that was signed")
        case .invalid: self.init(.signatureInvalid, detail: "the signature does not verify")
        }
    }

    /// The problem for a request whose signature does not show that a device sent it.
    init(proof error: DeviceProofError) {
        switch error {
        case .malformed: self.init(signature: .malformed)
        case .coverage(let name): self.init(signature: .coverage(name))
        case .otherContent: self.init(signature: .digest)
        case .otherKey: self.init(signature: .parameter("keyid"))
        case .invalid: self.init(signature: .invalid)
        }
    }

    /// The problem for a challenge that is refused.
    init(asking refusal: AskChallenge.Refusal) {
        switch refusal {
        case .caller(let refusal): self.init(caller: refusal)
        case .userMissing: self.init(shape: .missing(pointer: "/user"))
        case .userNotFound: self.init(.userNotFound)
        case .typeNotFound: self.init(.typeNotFound)
        case .messageMissing: self.init(shape: .missing(pointer: "/message"))
        case .noEnrollment: self.init(.noEnrollment)
        case .enrollmentNotFound(let id):
            self.init(.enrollmentNotFound, detail: "\(id)", members: ["pointer": "/enrollments"])
        case .notAllowedByType(let part): self.init(.notAllowedByType, members: ["pointer": .string(part.pointer)])
        case .callbackNotRegistered: self.init(.callbackNotRegistered, members: ["pointer": "/callback_uri"])
        case .returnNotRegistered: self.init(.returnNotRegistered, members: ["pointer": "/return_uri"])
        case .phoneMissing: self.init(shape: .missing(pointer: "/phone"))
        case .textsNotSetUp: self.init(.transportNotSetUp)
        case .tooManyTexts(let seconds): self.init(.tooManyTexts, members: ["retry_after": .integer(seconds.value)])
        case .captchaMissing(let name):
            self.init(.captchaMissing, members: ["captcha": .string("\(name)"), "pointer": "/captcha_token"])
        case .captchaRefused: self.init(.captchaRefused, members: ["pointer": "/captcha_token"])
        case .captchaUnavailable: self.init(.captchaUnavailable)
        case .tooManyCaptchas(let seconds): self.init(retryAfter: seconds)
        case .reported: self.init(.askingLocked)
        case .tooManyPending: self.init(.tooManyPending)
        case .tooManyAsks(let seconds): self.init(.tooManyAsks, members: ["retry_after": .integer(seconds.value)])
        }
    }

    /// The problem for a client that has lost its access.
    init(caller refusal: CallerRefusal) {
        switch refusal {
        case .unknown: self.init(.unauthorized)
        case .disabled: self.init(.clientDisabled)
        case .rightMissing(let right): self.init(.rightMissing, members: ["right": .string(right.rawValue)])
        }
    }

    /// The problem for a challenge that had ended before the call.
    init(ended status: ChallengeStatus) {
        self.init(
            .alreadyEnded,
            members: JSONObject(["state": .string(status.state), "reason": status.reason.map(JSONValue.string)]))
    }

    /// The problem for a text that may not be shown.
    init(text refused: RefusedText) {
        let (pointer, reason) = (refused.pointer, refused.refusal.rawValue)
        self.init(
            .textRefused, detail: "\(pointer): \(reason)",
            members: ["pointer": .string(pointer), "reason": .string(reason)])
    }

    /// The problem for a caller that comes too often.
    init(retryAfter seconds: Seconds) {
        self.init(.rateLimited, members: ["retry_after": .integer(seconds.value)])
    }

    /// The problem for an incorrect PIN.
    init(pinIncorrect attemptsLeft: Int) {
        self.init(.pinIncorrect, members: ["attempts_left": .integer(Int64(attemptsLeft))])
    }

    /// A problem with the message of a custom authenticator.
    init(_ code: ProblemCode, payload: String?, attemptsLeft: Int? = nil) {
        self.init(
            code,
            members: JSONObject([
                "attempts_left": attemptsLeft.map { .integer(Int64($0)) }, "payload": payload.map(JSONValue.string),
            ]))
    }
}

extension RequestRefusal.Resource {
    fileprivate var code: ProblemCode {
        switch self {
        case .address: .addressNotFound
        case .challenge: .challengeNotFound
        case .client: .clientNotFound
        case .enrollment: .enrollmentNotFound
        case .keyUse: .keyUseNotFound
        case .message: .messageNotFound
        case .passkey: .passkeyNotFound
        case .type: .typeNotFound
        case .user: .userNotFound
        }
    }
}

extension AskChallenge.Part {
    /// The JSON pointer to it in a request.
    fileprivate var pointer: String {
        switch self {
        case .browser: "/browser"
        case .captchaToken: "/captcha_token"
        case .details: "/details"
        case .enrollments: "/enrollments"
        case .lifetime: "/expires_in"
        case .methods: "/methods"
        case .numberEntry: "/number_entry"
        case .phone: "/phone"
        case .returnURI: "/return_uri"
        case .secureMessage: "/secure_message"
        case .signingData: "/signing_data"
        }
    }
}
