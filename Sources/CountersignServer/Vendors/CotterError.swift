import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes

/// A refusal of a call of Cotter's.
///
/// Its clients read `msg`, and the status.
struct CotterError: Error {
    /// The reasons, with the status of each.
    enum Reason: String, CaseIterable, Sendable {
        /// The request cannot be read.
        case malformed
        /// The client is not known or not authenticated, or may not make these calls.
        case apiKey = "api_key"
        /// The refresh token is not good; clients sign the person out if they read "not valid".
        case refreshToken = "refresh_token"
        /// The client's settings ask for what these calls cannot have.
        case notPossible = "not_possible"
        /// There is no such thing, or it is over.
        case notFound = "not_found"
        /// There were too many.
        case tooMany = "too_many"
        /// The code was used before, is over, or does not fit the request; Cotter says it so.
        case expired
        /// Something is not to be had for a moment.
        case unavailable
        /// The server has failed.
        case failed

        fileprivate var status: Int {
            switch self {
            case .malformed, .refreshToken, .notPossible: 400
            case .apiKey: 401
            case .notFound: 404
            case .tooMany: 429
            case .expired, .failed: 500
            case .unavailable: 503
            }
        }
    }

    let reason: Reason
    /// What happened, for the app's developer.
    let message: String
    /// When to try again; nil for no such advice.
    var retryAfter: Int64?
    /// The status, where the reason's own does not fit.
    var status: Int?
    /// The origin whose scripts may read it; nil for none.
    var origin: String?

    init(_ reason: Reason, _ message: String, retryAfter: Int64? = nil, status: Int? = nil) {
        self.reason = reason
        self.message = message
        self.retryAfter = retryAfter
        self.status = status
    }

    /// One error for all that can be wrong with a code: it must not tell a thief which part.
    static let expired = CotterError(.expired, "Challenge Expired")

    /// One error for a client that is not known and for one that may not make these calls.
    static let apiKey = CotterError(.apiKey, "API_KEY_ID is no client that may make these calls")

    static func malformed(_ name: String) -> CotterError { CotterError(.malformed, "\(name) is missing or wrong") }

    var rendered: RenderedRefusal {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let retryAfter { headers[.retryAfter] = "\(retryAfter)" }
        if let origin {
            headers[.vary] = "Origin"
            headers[.accessControlAllowOrigin] = origin
        }
        let json: JSONValue = ["msg": .string(message)]
        return RenderedRefusal(
            status: status ?? reason.status, headers: headers, body: json.encoded, code: "cotter_\(reason.rawValue)",
            detail: message)
    }
}

extension CotterError {
    /// The refusal that an error of a handler is; nil for a fault.
    init?(_ error: any Error) {
        switch error {
        case let error as CotterError: self = error
        case let error as OAuthError: self.init(authentication: error)
        case let error as FormFields.Malformed: self.init(.malformed, error.description)
        default: return nil
        }
    }

    /// Why a client is not authenticated.
    private init(authentication error: OAuthError) {
        switch error.code {
        case .temporarilyUnavailable: self.init(.tooMany, error.description, retryAfter: error.retryAfter)
        case .invalidRequest: self.init(.malformed, error.description)
        default: self = .apiKey
        }
    }

    init(_ failure: RequestFailure, requestID: String) {
        switch failure {
        case .malformed, .malformedQuery, .bodyIncomplete: self.init(.malformed, "the request is malformed")
        case .bodyTooLarge: self.init(.malformed, "the body is too large", status: 413)
        case .bodyTooSlow: self.init(.malformed, "the body came too slowly", status: 408)
        case .unknownPath: self.init(.notFound, "there is no such call")
        case .methodNotAllowed(let allowed): self.init(.notFound, "use \(allowed)", status: 405)
        case .unavailable: self.init(.unavailable, "try again in a moment")
        case .noRoom: self.init(.unavailable, "there is no room on the database's disk")
        case .overloaded: self.init(.unavailable, "the server has too many requests", retryAfter: 1)
        case .fault: self.init(.failed, "the server failed; its log has request \(requestID)")
        }
    }
}
