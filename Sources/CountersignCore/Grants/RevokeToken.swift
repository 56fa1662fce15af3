package import CountersignWire
package import Encodings

/// Takes a token back for the client that got it.
///
/// Spec: RFC 7009 §2.
package enum RevokeToken {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The token is not good any more; a token that never was one is none either.
        case revoked
        /// The token is another client's.
        case notYours
    }

    /// Takes a token back.
    ///
    /// With a refresh token, all tokens that belong together end. An access token ends alone.
    ///
    /// - Throws: ``StoreError``.
    package static func revoke(_ token: Secret<String>, by client: ClientID, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        if let (id, _) = ports.hasher.refreshToken(token) {
            return try await ports.commit(at: now, as: .client(client)) { work in
                guard let family = try work.families.find(id) else { return .revoked }
                // check: TokenStateTests.revoked
                guard family.client == client else { return .notYours }
                try work.endFamilies(.family(id, of: family.user, at: client), because: .revoked)
                return .revoked
            }
        }
        guard let verified = try await VerifyAccessToken.verify(token, ports: ports) else { return .revoked }
        // check: TokenStateTests.revoked
        guard verified.family.client == client else { return .notYours }
        try await ports.commit(at: now, as: .client(client)) { work in
            try work.families.revoke(verified.jti, until: verified.expiresAt)
        }
        return .revoked
    }
}
