package import CountersignWire
package import Encodings

/// Tells whether a token is good: the client that got it, or the API that it is for.
///
/// Spec: RFC 7662 §2, §4.
package enum IntrospectToken {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The access token is good.
        case access(VerifiedAccess)
        /// The access token that a client got for itself is good.
        case client(VerifiedOwnAccess)
        /// The refresh token is good.
        case refresh(TokenFamily)
        /// It is not, or the caller may not know.
        case inactive
    }

    /// Says whether a token is good.
    ///
    /// A refresh token is good as long as the token endpoint takes it; so the one that it replaced is good, too, within
    /// its grace. An older one is not good, but does not end its family here.
    ///
    /// - Throws: ``StoreError``.
    package static func introspect(
        _ token: Secret<String>, by client: ClientID, ports: Ports
    ) async throws -> Outcome {
        ports.tokenCounts.noteIntrospection()
        if let (id, generation) = ports.hasher.refreshToken(token) {
            let now = ports.time.now
            return try await ports.store.read { reader in
                guard let family = try reader.families.find(id), family.isOffline,
                    let party = try reader.relyingParties.find(client)
                else { return .inactive }
                // check: TokenStateTests.introspected
                guard family.client == client else { return .inactive }
                // check: TokenStateTests.replaced
                guard family.isActive(at: now) else { return .inactive }
                // check: TokenStateTests.replaced
                guard family.accepts(generation, within: party.refreshGrace, at: now) else { return .inactive }
                // check: TokenStateTests.suspended
                guard try reader.isThere(family.authentication.evidence, of: family.user) else { return .inactive }
                return .refresh(family)
            }
        }
        guard let claims = try AccessClaims.readForAnybody(token, ports: ports) else { return .inactive }
        let isOwn = claims.client.hasSameBytes(as: "\(client)")
        var api: ClientID?
        if let resource = claims.resource {
            api = try await ports.store.read { try $0.owner(of: resource, for: claims.client) }
            // check: ResourceTests.introspection
            guard api != nil, isOwn || api == client else { return .inactive }
        } else {
            // check: TokenStateTests.introspected
            guard isOwn else { return .inactive }
        }
        if let verified = try await VerifyClientToken.verify(claims, ports: ports) {
            return own(verified.token, of: verified.client, claims)
        }
        guard let verified = try await VerifyAccessToken.verify(claims, ports: ports) else { return .inactive }
        // The name of the API may have changed hands since.
        // check: ResourceTests.nameTaken
        guard api == nil || verified.family.resources.contains(where: { $0.owner == api }) else { return .inactive }
        return .access(verified)
    }

    /// A token that a client got for itself: for us it has no more rights than the client has now.
    private static func own(_ token: ClientToken, of client: Client, _ claims: AccessClaims) -> Outcome {
        // check: ResourceTests.client
        guard client.disabledAt == nil else { return .inactive }
        let scopes =
            claims.resource == nil
            ? token.rights.intersection(client.rights).map(\.rawValue).sorted() : claims.scopes
        // check: ClientTokenTests.scopes
        guard !scopes.isEmpty else { return .inactive }
        return .client(
            VerifiedOwnAccess(
                client: client.id, token: token, scopes: scopes, resource: claims.resource,
                keyThumbprint: claims.keyThumbprint))
    }
}

/// An access token that a client got for itself, and that is good.
package struct VerifiedOwnAccess: Equatable, Sendable {
    /// The client.
    package let client: ClientID
    /// The token.
    package let token: ClientToken
    /// Its scopes.
    package let scopes: [String]
    /// The API that it is for; nil for us.
    package let resource: ResourceIdentifier?
    /// What it is bound to; nil for nothing.
    package let keyThumbprint: KeyThumbprint?
}

extension Stores {
    /// The client that is an API, while another client may have tokens for it; nil otherwise.
    fileprivate func owner(of identifier: ResourceIdentifier, for client: String) throws -> ClientID? {
        guard let party = try ClientID(client).flatMap({ try relyingParties.find($0) }) else { return nil }
        return try resource(identifier, for: party)?.owner
    }
}
