import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The endpoint that says who a token's user is.
///
/// Spec: OpenID Connect Core 1.0 §5.3.
extension OAuthDoor {
    func addUserinfo(to table: inout RouteTable) {
        for method in [HTTPRequest.Method.get, .post] {
            addShared(method, "/oauth2/userinfo", to: &table) { [self] incoming in
                guard let token = incoming.bearerToken else {
                    var error = OAuthError(.invalidToken, "send the access token as Authorization: Bearer")
                    error.isAboutNothing = true
                    throw error
                }
                switch try await ShowClaims.show(token, ports: ports) {
                case .claims(let user, let addresses, let client):
                    return (Response(json: Self.claims(of: user, addresses)), client)
                case .invalidToken: throw OAuthError(.invalidToken, "the access token is not good, or no longer")
                case .scopeMissing: throw OAuthError(.insufficientScope, "the scope openid is missing")
                }
            }
        }
    }

    /// Spec: OpenID Connect Core 1.0 §5.1, §5.4.
    private static func claims(of user: UserID, _ addresses: UserAddresses) -> JSONValue {
        let (email, phone) = (addresses[.email], addresses[.phone])
        return .members([
            "sub": .string("\(user)"), "email": email.map { .string("\($0.address)") },
            "email_verified": email.map { .bool($0.isVerified) },
            "phone_number": phone.map { .string("\($0.address)") },
            "phone_number_verified": phone.map { .bool($0.isVerified) },
        ])
    }
}
