package import CountersignWire
import Encodings

// A client gets access tokens for itself, by which it calls the API as by its secret. Nothing is stored of one: it ends
// by itself after some minutes, and a row says if it was taken back before.
//
// Spec: RFC 6749 §4.4, RFC 9068 §2.2; docs/decisions/0072-signing-in.md.

/// Gives a client an access token for itself; the scopes are its rights.
package enum GiveClientToken {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The token.
        case given(SignedTokens)
        /// The client has not all the rights that it names, or none at all.
        case scopeExceeded
        /// The client does not use the provider.
        case clientGone
    }

    /// Gives a token.
    ///
    /// - Parameters:
    ///   - scopes: the rights that the token is for; nil for all that the client has.
    ///   - id: the client, which has authenticated.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of signing.
    package static func give(scopes: [String]?, to id: ClientID, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let client = try await ports.store.read { reader in
            try reader.relyingParties.find(id).flatMap { try reader.clients.find($0.client) }
        }
        guard let client else { return .clientGone }
        let rights = Right.allCases.filter { right in
            client.rights.contains(right) && (scopes?.contains(right.rawValue) ?? true)
        }
        // check: ClientTokenTests.scopes
        guard !rights.isEmpty, rights.count == scopes.map({ Set($0).count }) ?? rights.count else {
            return .scopeExceeded
        }
        let names = rights.map(\.rawValue)
        let claims: JSONValue = [
            "iss": .string("\(ports.issuer)"), "sub": .string("\(id)"), "aud": .string("\(ports.issuer)"),
            "client_id": .string("\(id)"), "exp": .integer(now.adding(TokenLifetimes.access).seconds),
            "iat": .integer(now.seconds),
            "jti": .string("\(ClientToken.mark)\(Base64URL.encode(ports.random.bytes(16)))"),
            "scope": .string(names.joined(separator: " ")), ClientToken.secretClaim: .string(client.secretMark),
        ]
        return .given(
            SignedTokens(
                access: Secret(try await SignTokens.signAccess(claims, ports: ports)),
                expiresIn: TokenLifetimes.access, identity: nil, refresh: nil, scopes: names))
    }
}
