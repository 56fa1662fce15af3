import CountersignWire
package import Encodings

extension AuthenticateClient {
    /// Authenticates a client by an access token that it got for itself.
    ///
    /// A disabled client is authenticated as well, as by its secret.
    ///
    /// - Parameters:
    ///   - accessToken: the access token.
    ///   - key: the key that came with it; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func authenticate(
        accessToken: Secret<String>, by key: ProvedKey? = nil, ports: Ports
    ) async throws -> Outcome {
        guard let claims = try AccessClaims.read(accessToken, ports: ports) else { return .refused }
        // check: BoundTokenTests.clientToken
        guard claims.isShown(by: key) else { return .refused }
        guard let verified = try await VerifyClientToken.verify(claims, ports: ports)
        else { return .refused }
        return .authenticated(ClientCaller(client: verified.client, token: verified.token))
    }
}

extension ClientToken {
    /// What its `jti` begins with, as that of no other access token does.
    static let mark = "client."
    /// The claim with the mark of the client's secret, which nobody else reads.
    static let secretClaim = "credential"

    fileprivate init?(_ claims: AccessClaims) {
        guard claims.jti.hasPrefix(Self.mark), let secretMark = claims.secretMark else { return nil }
        self.init(
            jti: claims.jti, rights: Set(claims.scopes.compactMap { Right(rawValue: $0) }), issuedAt: claims.issuedAt,
            expiresAt: claims.expiresAt, secretMark: secretMark)
    }
}

/// Verifies access tokens that clients got for themselves.
enum VerifyClientToken {
    /// A token with its client, which may be disabled; nil if the token is not good.
    ///
    /// - Throws: ``StoreError``.
    static func verify(_ claims: AccessClaims, ports: Ports) async throws -> (client: Client, token: ClientToken)? {
        guard let (id, token) = read(claims) else { return nil }
        return try await ports.store.read { reader in
            // check: ClientTokenTests.revoked
            guard try !reader.families.isRevoked(token.jti) else { return nil }
            // It ends when the client uses the provider no more.
            guard let party = try reader.relyingParties.find(id), let client = try reader.clients.find(party.client),
                !client.isOperator
            else { return nil }
            // One that came before the client was strict may be bound to nothing.
            // check: StrictSwitchTests.clientToken
            guard party.profile != .strict || claims.keyThumbprint != nil else { return nil }
            // check: ClientTokenTests.renewed
            guard token.secretMark.hasSameBytes(as: client.secretMark) else { return nil }
            return (client, token)
        }
    }

    /// A token that we have signed for a client, and that is not over; nil for any other.
    static func read(_ claims: AccessClaims) -> (ClientID, ClientToken)? {
        guard claims.subject.hasSameBytes(as: claims.client), let token = ClientToken(claims),
            let id = ClientID(claims.client)
        else { return nil }
        return (id, token)
    }
}
