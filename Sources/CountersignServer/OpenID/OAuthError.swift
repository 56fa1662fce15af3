import CountersignCore
import Encodings
import HTTPTypes

/// An error of the OAuth endpoints.
///
/// Spec: RFC 6749 §4.1.2.1, §5.2; OpenID Connect Core 1.0 §3.1.2.6; RFC 6750 §3.1.
struct OAuthError: Error, Hashable {
    /// The codes, with the status that each has at an endpoint that answers with JSON.
    enum Code: String, CaseIterable, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case invalidScope = "invalid_scope"
        /// Spec: RFC 8707 §2.
        case invalidTarget = "invalid_target"
        /// Spec: RFC 9396 §5.
        case invalidAuthorizationDetails = "invalid_authorization_details"
        case invalidToken = "invalid_token"
        /// Spec: RFC 9449 §5.
        case invalidDPoPProof = "invalid_dpop_proof"
        /// Spec: RFC 9449 §8.
        case useDPoPNonce = "use_dpop_nonce"
        case insufficientScope = "insufficient_scope"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case accessDenied = "access_denied"
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case interactionRequired = "interaction_required"
        /// From *OpenID Connect Core Error Code unmet_authentication_requirements 1.0*.
        case unmetAuthenticationRequirements = "unmet_authentication_requirements"
        /// Spec: CIBA Core 1.0 §13.
        case invalidBindingMessage = "invalid_binding_message"
        /// Spec: CIBA Core 1.0 §13.
        case missingUserCode = "missing_user_code"
        /// Spec: CIBA Core 1.0 §13.
        case invalidUserCode = "invalid_user_code"
        /// Spec: RFC 9101 §6.2, §6.3.
        case invalidRequestObject = "invalid_request_object"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        /// Spec: RFC 8628 §3.5.
        case authorizationPending = "authorization_pending"
        /// Spec: RFC 8628 §3.5.
        case slowDown = "slow_down"
        /// Spec: RFC 8628 §3.5.
        case expiredToken = "expired_token"
        case temporarilyUnavailable = "temporarily_unavailable"
        case serverError = "server_error"

        var status: Int {
            switch self {
            case .invalidClient, .invalidToken: 401
            case .insufficientScope, .accessDenied: 403
            case .temporarilyUnavailable: 503
            case .serverError: 500
            case .invalidRequest, .invalidGrant, .invalidScope, .invalidTarget, .unauthorizedClient,
                .invalidAuthorizationDetails, .unsupportedGrantType, .invalidDPoPProof, .useDPoPNonce,
                .unsupportedResponseType, .loginRequired, .consentRequired, .interactionRequired,
                .unmetAuthenticationRequirements, .invalidRequestObject, .requestNotSupported,
                .invalidBindingMessage, .missingUserCode, .invalidUserCode, .requestURINotSupported,
                .authorizationPending, .slowDown, .expiredToken:
                400
            }
        }
    }

    let code: Code
    /// What happened, for the client's developer: ASCII without a quotation mark or a backslash.
    ///
    /// Spec: RFC 6749 §5.2.
    let description: String
    /// The status, where the code's own does not fit.
    var status: Int?
    /// Whether the caller has sent no token at all, so that the header names no error.
    ///
    /// Spec: RFC 6750 §3.1.
    var isAboutNothing = false
    /// The scheme by which the access token came that it is about.
    var scheme = TokenScheme.bearer
    /// The nonce that the next proof must have; nil to say nothing of it.
    var nonce: String?
    /// The origin whose scripts may read it; nil for none.
    var origin: String?
    /// After how many seconds to try again; nil for no such advice.
    var retryAfter: Int64?

    init(_ code: Code, _ description: String, status: Int? = nil, retryAfter: Int64? = nil) {
        self.code = code
        self.description = description
        self.status = status
        self.retryAfter = retryAfter
    }

    /// The error as the body of a reply.
    var json: JSONValue {
        ["error": .string(code.rawValue), "error_description": .string(description)]
    }
}

extension OAuthError {
    /// The error of a request whose proof is refused, or that has none and needs one.
    ///
    /// Spec: RFC 9449 §5, §8.
    init(_ refusal: KeyProofRefusal, ports: Ports) {
        switch refusal {
        case .missing, .invalid, .replayed: self.init(.invalidDPoPProof, refusal.description)
        case .nonceMissing:
            self.init(.useDPoPNonce, refusal.description)
            nonce = ProvedKey.nonce(ports: ports)
        }
    }

    /// The same error where an access token was shown.
    ///
    /// Spec: RFC 9449 §7.1, §9.
    init(atResource refusal: KeyProofRefusal, ports: Ports) {
        self.init(refusal, ports: ports)
        status = 401
        scheme = .dpop
    }

    /// The error of scopes and resources that do not go together.
    ///
    /// Spec: RFC 8707 §2.
    init(_ access: WantedAccess) {
        switch access {
        case .scopes: self.init(.invalidScope, "scope has nothing that can be given")
        case .unknownResource:
            self.init(.invalidTarget, "resource is no API that the client may have tokens for, or stands too often")
        case .scopeOfAnother(let scope):
            self.init(.invalidTarget, "the scope \(scope) is of an API that no parameter resource names")
        case .nothing(let resource): self.init(.invalidScope, "scope has no scope of \(resource)")
        }
    }

    /// A token request names what was not given.
    static let unknownTarget = OAuthError(
        .invalidTarget, "resource must be one API that the client was given, and may still have tokens for")
}
