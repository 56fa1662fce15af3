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
        let found: (client: ClientID, jti: String, expiresAt: Timestamp)
        guard let claims = try AccessClaims.readForAnybody(token, ports: ports) else { return .revoked }
        // It is taken back whatever has become of the client.
        if let (id, own) = VerifyClientToken.read(claims) {
            found = (id, own.jti, own.expiresAt)
        } else if let kept = try await ports.store.read({ try VerifyAccessToken.kept(claims, in: $0, at: now) }) {
            // Also while its device is suspended: it would be good again when the device comes back.
            found = (kept.family.client, kept.jti, kept.expiresAt)
        } else {
            return .revoked
        }
        // check: TokenStateTests.revoked
        guard found.client == client else { return .notYours }
        try await ports.commit(at: now, as: .client(client)) { work in
            try work.families.revoke(found.jti, until: found.expiresAt)
            try work.notifyWatchers(of: client)
        }
        return .revoked
    }
}
