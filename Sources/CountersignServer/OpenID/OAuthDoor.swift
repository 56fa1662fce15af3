import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The endpoints of the OpenID provider that programs call: forms in, JSON out.
///
/// The pages that people see are another door; see ``SignInDoor``.
final class OAuthDoor: Door {
    let paths = [
        "/oauth2/token", "/oauth2/device_authorization", OAuthDoor.backchannelPath, "/oauth2/par",
        "/oauth2/introspect", "/oauth2/revoke", "/oauth2/userinfo", "/oauth2/jwks",
        "/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource",
    ]
    let resources: DoorResources

    var ports: Ports { resources.ports }

    init(_ resources: DoorResources) { self.resources = resources }

    func addRoutes(to table: inout RouteTable) {
        addMetadata(to: &table)
        addToken(to: &table)
        addPushedRequests(to: &table)
        addDeviceGrant(to: &table)
        addBackchannel(to: &table)
        addTokenState(to: &table)
        addUserinfo(to: &table)
        addPreflights(to: &table)
    }

    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? {
        switch error {
        case let error as OAuthError: Self.rendered(error)
        case let error as FormFields.Malformed: Self.rendered(OAuthError(.invalidRequest, error.description))
        default: nil
        }
    }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        Self.rendered(OAuthError(failure, requestID: context.requestID))
    }

    private static func rendered(_ error: OAuthError) -> RenderedRefusal {
        var headers: HTTPFields = [.contentType: "application/json"]
        switch error.code {
        // Spec: RFC 6749 §5.2.
        case .invalidClient: headers[.wwwAuthenticate] = "Basic realm=\"countersign\""
        // Spec: RFC 6750 §3.
        case .invalidToken where error.isAboutNothing: headers[.wwwAuthenticate] = TokenScheme.challenges
        case .invalidToken, .insufficientScope:
            headers[.wwwAuthenticate] = error.scheme.challenge(error.code.rawValue, error.description)
        // Spec: RFC 9449 §7.1, §9.
        case .invalidDPoPProof where error.status == 401, .useDPoPNonce where error.status == 401:
            headers[.wwwAuthenticate] = error.scheme.challenge(error.code.rawValue, error.description)
        default: break
        }
        headers[.keyProofNonce] = error.nonce
        if let origin = error.origin {
            headers[.vary] = "Origin"
            headers[.accessControlAllowOrigin] = origin
            headers[.accessControlExposeHeaders] = exposed
        }
        if let seconds = error.retryAfter { headers[.retryAfter] = "\(seconds)" }
        return RenderedRefusal(
            status: error.status ?? error.code.status, headers: headers, body: error.json.encoded,
            code: error.code.rawValue, detail: error.description)
    }
}

extension OAuthError {
    /// The error for a request that no handler answered.
    init(_ failure: RequestFailure, requestID: String) {
        switch failure {
        case .malformed, .malformedQuery: self.init(.invalidRequest, "the request is malformed")
        case .bodyIncomplete: self.init(.invalidRequest, "the body did not arrive whole")
        case .bodyTooLarge: self.init(.invalidRequest, "the body is too large", status: 413)
        case .bodyTooSlow: self.init(.invalidRequest, "the body came too slowly", status: 408)
        case .unknownPath: self.init(.invalidRequest, "there is no such endpoint", status: 404)
        case .methodNotAllowed(let allowed): self.init(.invalidRequest, "use \(allowed)", status: 405)
        case .unavailable: self.init(.temporarilyUnavailable, "try again in a moment")
        case .noRoom: self.init(.temporarilyUnavailable, "there is no room on the database's disk")
        case .overloaded: self.init(.temporarilyUnavailable, "the server has too many requests", retryAfter: 1)
        case .fault: self.init(.serverError, "the server failed; its log has request \(requestID)")
        }
    }
}
