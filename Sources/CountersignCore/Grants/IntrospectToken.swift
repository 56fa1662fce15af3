package import CountersignWire
package import Encodings

/// Tells the client that got a token whether it is good.
///
/// Spec: RFC 7662 §2.
package enum IntrospectToken {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The access token is good.
        case access(VerifiedAccess)
        /// The access token that the client got for itself is good, for these rights.
        case client(ClientToken, rights: Set<Right>)
        /// The refresh token is good.
        case refresh(TokenFamily)
        /// It is not, or the caller may not know.
        case inactive
    }

    /// Says whether a token is good.
    ///
    /// - Throws: ``StoreError``.
    package static func introspect(
        _ token: Secret<String>, by client: ClientID, ports: Ports
    ) async throws -> Outcome {
        if let (id, generation) = ports.hasher.refreshToken(token) {
            let now = ports.time.now
            return try await ports.store.read { reader in
                guard let family = try reader.families.find(id), family.client == client, family.isOffline,
                    family.isActive(at: now), family.generation == generation
                else { return .inactive }
                // check: TokenStateTests.suspended
                guard try reader.isThere(family.authentication.evidence, of: family.user) else { return .inactive }
                return .refresh(family)
            }
        }
        guard let claims = try AccessClaims.read(token, ports: ports) else { return .inactive }
        if let verified = try await VerifyClientToken.verify(claims, ports: ports) {
            let rights = verified.token.rights.intersection(verified.client.rights)
            guard verified.client.id == client, verified.client.disabledAt == nil, !rights.isEmpty else {
                return .inactive
            }
            return .client(verified.token, rights: rights)
        }
        guard let verified = try await VerifyAccessToken.verify(claims, ports: ports), verified.family.client == client
        else { return .inactive }
        return .access(verified)
    }
}
