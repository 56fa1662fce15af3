package import CountersignWire
package import Encodings
import JOSE

/// Signs what introspection says of a token, for an API that must be able to show later what it was told.
///
/// Spec: RFC 9701 §5.
package enum SignTokenState {
    /// The `typ` of its header, by which nobody takes it for a token.
    ///
    /// Spec: RFC 9701 §8.1.
    package static let type = "token-introspection+jwt"

    /// The signed form, for the client that asks and nobody else.
    ///
    /// - Parameters:
    ///   - state: what introspection says. Spec: RFC 7662 §2.2.
    ///   - client: the client that asks; it is signed as its ID tokens are.
    ///   - ports: the external dependencies.
    /// - Returns: a JWT; nil for a client without settings for OpenID Connect, which has agreed on no algorithm.
    /// - Throws: ``StoreError``, or an error of signing.
    package static func sign(_ state: JSONValue, for client: ClientID, ports: Ports) async throws -> String? {
        guard let party = try await ports.store.read({ try $0.relyingParties.find(client) }) else { return nil }
        guard let key = try ports.keys.current().tokens.key(party.idTokenAlgorithm) else {
            throw StoreError.unavailable
        }
        // It has no `sub` and no `exp`, so that no check of an ID token lets it through.
        let claims: JSONValue = [
            "iss": .string("\(ports.issuer)"), "aud": .string("\(client)"), "iat": .integer(ports.time.now.seconds),
            "token_introspection": state,
        ]
        return try await JWS.sign(claims.encoded, type: type, by: key, keyID: key.keyID)
    }
}
