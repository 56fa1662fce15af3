import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes

/// A refusal of a call of Okta's device SDK, with Okta's code.
///
/// The SDK forgets an enrollment when it reads `enrollmentNotFound` or `enrollmentDeleted`, and enrolls once more as a new
/// device when it reads `deviceDeleted` or `invalidToken`. So these stand for nothing else.
struct OktaError: Error, Hashable {
    /// The codes that this server gives, with the status of each.
    enum Code: String, CaseIterable, Sendable {
        case validationFailed = "E0000001"
        case malformedBody = "E0000003"
        case forbidden = "E0000006"
        case resourceNotFound = "E0000007"
        case serverError = "E0000009"
        case invalidToken = "E0000011"
        case featureDisabled = "E0000015"
        case methodNotAllowed = "E0000022"
        case tooManyRequests = "E0000047"
        case deviceDeleted = "E0000153"
        case enrollmentDeleted = "E0000154"
        case enrollmentSuspended = "E0000180"

        var status: Int {
            switch self {
            case .validationFailed, .malformedBody: 400
            case .invalidToken: 401
            case .forbidden, .featureDisabled: 403
            case .resourceNotFound: 404
            case .methodNotAllowed: 405
            case .deviceDeleted, .enrollmentDeleted: 410
            case .enrollmentSuspended: 423
            case .tooManyRequests: 429
            case .serverError: 500
            }
        }

        fileprivate var summary: String {
            switch self {
            case .validationFailed: "the request is not valid"
            case .malformedBody: "the body is not the JSON of this call"
            case .forbidden: "the access token does not allow this"
            case .resourceNotFound: "there is no such resource"
            case .serverError: "the server failed"
            case .invalidToken: "the access token is missing, not good, or over"
            case .featureDisabled: "the client may not make these calls"
            case .methodNotAllowed: "the endpoint has no such method"
            case .tooManyRequests: "there were too many requests"
            case .deviceDeleted: "the device is not known: enroll it anew"
            case .enrollmentDeleted: "the enrollment is removed"
            case .enrollmentSuspended: "the enrollment is suspended"
            }
        }
    }

    let code: Code
    /// What happened, for the app's developer.
    let summary: String
    /// The status, where the code's own does not fit.
    var status: Int?
    /// When to try again; nil for no such advice.
    var retryAfter: Seconds?

    init(_ code: Code, _ summary: String? = nil, status: Int? = nil, retryAfter: Seconds? = nil) {
        self.code = code
        self.summary = summary ?? code.summary
        self.status = status
        self.retryAfter = retryAfter
    }

    static func invalid(_ summary: String) -> OktaError { OktaError(.validationFailed, summary) }

    /// Whoever answers without a good signature learns no more than whoever answers nothing that was asked.
    static let answerNotTaken = OktaError.invalid("the answer is not one to this challenge")

    /// The error as a reply.
    ///
    /// The SDK loses the whole error unless each cause is an object of texts.
    ///
    /// - Parameter requestID: names the request in the log.
    func rendered(_ requestID: String) -> RenderedRefusal {
        var headers: HTTPFields = [.contentType: "application/json"]
        // Spec: RFC 6750 §3.
        if code == .invalidToken { headers[.wwwAuthenticate] = "Bearer error=\"invalid_token\"" }
        if let retryAfter { headers[.retryAfter] = "\(retryAfter.value)" }
        let json: JSONValue = [
            "errorCode": .string(code.rawValue), "errorSummary": .string(summary), "errorLink": .string(code.rawValue),
            "errorId": .string(requestID), "errorCauses": [],
        ]
        return RenderedRefusal(
            status: status ?? code.status, headers: headers, body: json.encoded, code: "okta_\(code.rawValue)",
            detail: summary)
    }
}

extension OktaError {
    /// The error for a request that no handler answered.
    init(_ failure: RequestFailure, requestID: String) {
        switch failure {
        case .malformed, .malformedQuery: self.init(.validationFailed, "the request is malformed")
        case .bodyIncomplete: self.init(.malformedBody, "the body did not arrive whole")
        case .bodyTooLarge: self.init(.malformedBody, "the body is too large", status: 413)
        case .bodyTooSlow: self.init(.malformedBody, "the body came too slowly", status: 408)
        case .unknownPath: self.init(.resourceNotFound)
        case .methodNotAllowed(let allowed): self.init(.methodNotAllowed, "use \(allowed)")
        case .unavailable: self.init(.serverError, "try again in a moment", status: 503)
        case .noRoom: self.init(.serverError, "there is no room on the database's disk", status: 503)
        case .overloaded: self.init(.serverError, "the server has too many requests", status: 503, retryAfter: 1)
        case .fault: self.init(.serverError, "the server failed; its log has request \(requestID)")
        }
    }

    /// The error of a device that may do nothing any more, or for a time.
    init(_ refusal: DeviceRefusal) {
        switch refusal {
        case .deregistered: self.init(.enrollmentDeleted)
        case .suspended: self.init(.enrollmentSuspended)
        case .unknownEnrollment: self.init(.resourceNotFound)
        case .tooManyReads(let seconds): self.init(.tooManyRequests, retryAfter: seconds)
        case .proof, .clockSkew, .nonceReplayed: self = .answerNotTaken
        }
    }
}
