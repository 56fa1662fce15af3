package import CountersignWire
package import Encodings
import JOSE

/// Shows a client what its access token lets it know of a user.
///
/// Spec: OpenID Connect Core 1.0 §5.3.
package enum ShowClaims {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user, of whom the client may know no more.
        case claims(UserID)
        /// The token is not ours, is over, was taken back, or is not an access token.
        case invalidToken
        /// The token lacks the scope `openid`.
        case scopeMissing
    }

    /// The claims that a token gives.
    ///
    /// - Throws: ``StoreError``.
    package static func show(_ token: Secret<String>, ports: Ports) async throws -> Outcome {
        guard let family = try await VerifyAccessToken.verify(token, ports: ports) else { return .invalidToken }
        guard family.scopes.contains(TokenFamily.openID) else { return .scopeMissing }
        return .claims(family.user)
    }
}

/// Verifies access tokens for our own endpoints.
enum VerifyAccessToken {
    /// The family of a token; nil if the token is not good.
    ///
    /// The signature says that it is ours; the family's row, whether it was taken back.
    ///
    /// - Throws: ``StoreError``.
    static func verify(_ token: Secret<String>, ports: Ports) async throws -> TokenFamily? {
        let now = ports.time.now
        let keys = try ports.keys.current().tokens.published
        guard
            let verified = try? JWS.verify(
                token.reveal(), algorithms: [.es256], type: .exactly("at+jwt"), keys: keys),
            let claims = try? JSONValue(parsing: verified.payload), claims["iss"] == .string("\(ports.issuer)"),
            claims["aud"] == .string("\(ports.issuer)"), let end = claims["exp"]?.integer, now.seconds < end,
            let id = claims["jti"]?.string?.split(separator: ".").first.flatMap({ TokenFamilyID($0) })
        else { return nil }
        let family = try await ports.store.read { try $0.families.find(id) }
        return family?.isActive(at: now) == true ? family : nil
    }
}
