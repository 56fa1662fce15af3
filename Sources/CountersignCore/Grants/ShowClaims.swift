package import CountersignWire
package import Encodings

/// Shows a client what its access token lets it know of a user.
///
/// Spec: OpenID Connect Core 1.0 §5.3.
package enum ShowClaims {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The user, of their addresses those that the token lets the client know, what the client itself says of them, and
        /// the client.
        case claims(UserID, UserAddresses, UserClaims?, to: ClientID)
        /// The token is not ours, is over, was taken back, or is not an access token.
        case invalidToken
        /// The token lacks the scope `openid`.
        case scopeMissing
    }

    /// The claims that a token gives.
    ///
    /// - Parameters:
    ///   - token: the access token.
    ///   - key: the key that came with it; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func show(
        _ token: Secret<String>, by key: ProvedKey? = nil, ports: Ports
    ) async throws -> Outcome {
        guard let verified = try await VerifyAccessToken.verify(token, by: key, ports: ports) else {
            return .invalidToken
        }
        // check: TokenStateTests.notIdentified
        guard verified.scopes.contains(TokenFamily.openID) else { return .scopeMissing }
        let family = verified.family
        let kinds = PersonalAddress.Kind.allCases.filter { verified.scopes.contains($0.rawValue) }
        return try await ports.store.read { reader in
            let own = try reader.links.claims(of: family.user, for: family.client)
            let addresses = kinds.isEmpty ? UserAddresses() : try reader.addresses(of: family.user, for: family.client)
            return .claims(
                family.user, UserAddresses(addresses.entries.filter { kinds.contains($0.address.kind) }), own,
                to: family.client)
        }
    }
}

/// An access token that is good.
package struct VerifiedAccess: Equatable, Sendable {
    /// The tokens that it belongs to.
    package let family: TokenFamily
    /// Its own name.
    package let jti: String
    /// Its scopes.
    package let scopes: [String]
    /// The API that it is for; nil for us.
    package let resource: ResourceIdentifier?
    /// What it is bound to; nil for nothing.
    package let keyThumbprint: KeyThumbprint?
    /// When it was signed.
    package let issuedAt: Timestamp
    /// When it ends.
    package let expiresAt: Timestamp
}

/// Verifies access tokens for our own endpoints.
enum VerifyAccessToken {
    /// A token with its family; nil if the token is not good.
    ///
    /// The signature says that it is ours; rows say whether it was taken back, and whether what it rests on is there:
    /// a suspended device may come back, and with it the token.
    ///
    /// - Parameters:
    ///   - token: the access token.
    ///   - key: the key that came with it; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    static func verify(
        _ token: Secret<String>, by key: ProvedKey?, ports: Ports
    ) async throws -> VerifiedAccess? {
        guard let claims = try AccessClaims.read(token, ports: ports) else { return nil }
        // check: StrictCertificateTests.happyFlow
        guard claims.isShown(by: key) else { return nil }
        return try await verify(claims, ports: ports)
    }

    /// What is good of what a token says; nil if the token is not good.
    ///
    /// - Throws: ``StoreError``.
    static func verify(_ claims: AccessClaims, ports: Ports) async throws -> VerifiedAccess? {
        try await ports.store.read { reader in
            guard let found = try kept(claims, in: reader, at: ports.time.now) else { return nil }
            // check: TokenStateTests.suspended
            guard try reader.isThere(found.family.authentication.evidence, of: found.family.user) else { return nil }
            return found
        }
    }

    /// A token that has not ended and was not taken back, whether or not what it rests on is there; nil for another.
    static func kept(_ claims: AccessClaims, in reader: any Stores, at now: Timestamp) throws -> VerifiedAccess? {
        guard let id = claims.jti.split(separator: ".").first.flatMap({ TokenFamilyID($0) }),
            let family = try reader.families.find(id)
        else { return nil }
        // check: RedeemCodeTests.twice
        guard family.isActive(at: now) else { return nil }
        // check: TokenStateTests.revoked
        guard try !reader.families.isRevoked(claims.jti) else { return nil }
        return VerifiedAccess(
            family: family, jti: claims.jti, scopes: claims.scopes, resource: claims.resource,
            keyThumbprint: claims.keyThumbprint, issuedAt: claims.issuedAt, expiresAt: claims.expiresAt)
    }
}
