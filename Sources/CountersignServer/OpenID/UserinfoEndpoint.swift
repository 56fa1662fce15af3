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
                guard let shown = try token(of: incoming, method) else {
                    var error = OAuthError(.invalidToken, "send the access token as Authorization: Bearer or DPoP")
                    error.isAboutNothing = true
                    throw error
                }
                switch try await ShowClaims.show(shown.token, by: shown.key, ports: ports) {
                case .claims(let user, let addresses, let own, let client):
                    // check: BoundTokenTests.userinfoOnce
                    guard try ports.spend(shown.key) else { throw OAuthError(atResource: .replayed, ports: ports) }
                    let response = Response(json: Self.claims(of: user, addresses, own))
                    return (withNonce(response, for: shown.key), client)
                case .invalidToken:
                    var error = OAuthError(
                        .invalidToken, "the access token is not good, no longer, or not bound as it was sent")
                    error.scheme = shown.scheme
                    throw error
                case .scopeMissing:
                    var error = OAuthError(.insufficientScope, "the scope openid is missing")
                    error.scheme = shown.scheme
                    throw error
                }
            }
        }
    }

    /// The token of a request: in its header or, of a post, in its form, in one of them; nil for none.
    ///
    /// A token that is bound to a key comes in the header alone. Spec: RFC 6750 §2, §2.2; OpenID Connect Core 1.0
    /// §5.3.1; RFC 9449 §7.1.
    private func token(of incoming: Incoming, _ method: HTTPRequest.Method) throws -> ShownToken? {
        guard method == .post, incoming.hasContent("application/x-www-form-urlencoded") else {
            return try headerToken(of: incoming)
        }
        let inForm = try FormFields(form: incoming)["access_token"]
        // check: TokenTests.userinfoForm
        guard incoming.headers[.authorization] == nil || inForm == nil else {
            throw OAuthError(.invalidRequest, "send the access token in one way only")
        }
        if let inForm { return ShownToken(token: Secret(inForm), key: incoming.certificateKey) }
        return try headerToken(of: incoming)
    }

    private func headerToken(of incoming: Incoming) throws -> ShownToken? {
        do throws(UnprovedToken) {
            return try incoming.shownToken(ports: ports)
        } catch {
            throw OAuthError(atResource: error.refusal, ports: ports)
        }
    }

    /// What we say of a user, and what the client says of them itself, under names that are none of ours.
    ///
    /// Spec: OpenID Connect Core 1.0 §5.1, §5.1.2, §5.4.
    private static func claims(of user: UserID, _ addresses: UserAddresses, _ own: UserClaims?) -> JSONValue {
        let (email, phone) = (addresses[.email], addresses[.phone])
        var object = JSONObject([
            "sub": .string("\(user)"), "email": email.map { .string("\($0.address)") },
            "email_verified": email.map { .bool($0.isVerified) },
            "phone_number": phone.map { .string("\($0.address)") },
            "phone_number_verified": phone.map { .bool($0.isVerified) },
        ])
        for member in own?.json.members ?? [] { object[member.name] = member.value }
        return .object(object)
    }
}
