package import CountersignWire
import Encodings

// A client gets access tokens for itself: for us, by which it calls our API as by its secret, or for an API that it may
// have tokens for. Nothing is stored of one: it ends by itself after some minutes, and a row says if it was taken back
// before.
//
// Spec: RFC 6749 §4.4, RFC 9068 §2.2; docs/decisions/0072-signing-in.md, docs/decisions/0085-tokens-for-apis.md.

/// Gives a client an access token for itself: for us, with its rights as scopes, or for an API.
package enum GiveClientToken {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The token.
        case given(SignedTokens)
        /// The client has not all the rights that it names, or none at all, or the API has no such scope.
        case scopeExceeded
        /// The client may have no tokens for the resource that it names, or it names several.
        case unknownResource
        /// The client is a third party, and names anything but us.
        case thirdParty
        /// The client must prove a key, or its proof came before.
        case unproved(KeyProofRefusal)
        /// The client does not use the provider.
        case clientGone
    }

    /// Gives a token.
    ///
    /// - Parameters:
    ///   - scopes: the rights, or the scopes of an API, that the token is for; nil for all that the client may have.
    ///   - resources: the resource that the token is for; none for us.
    ///   - id: the client, which has authenticated.
    ///   - key: the key that the client has proved to have; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of signing.
    package static func give(
        scopes: [String]?, for resources: [String] = [], to id: ClientID, with key: ProvedKey? = nil, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let found = try await ports.store.read { reader -> (Client, AccessTarget?, RelyingParty)? in
            guard let party = try reader.relyingParties.find(id), let client = try reader.clients.find(id) else {
                return nil
            }
            return (client, try reader.target(resources, of: client, party, issuer: ports.issuer), party)
        }
        guard let (client, target, party) = found else { return .clientGone }
        // check: BoundTokenTests.required
        guard key != nil || !party.bindsTokens else { return .unproved(.missing) }
        // What a third party's users are asked about, it does not get by itself. That holds for every name, so that it
        // does not learn which APIs there are.
        let isForUs = target.map { $0.resource == nil } ?? false
        // check: ResourceTests.thirdParty
        guard isForUs || !client.isThirdParty else { return .thirdParty }
        guard let target else { return .unknownResource }
        let names = target.scopes.filter { scopes?.contains($0) ?? true }
        // check: ClientTokenTests.scopes
        guard !names.isEmpty, names.count == scopes.map({ Set($0).count }) ?? names.count else {
            return .scopeExceeded
        }
        if let key, key.isProved {
            let isFirst = try await ports.commit(at: now, as: .client(id)) { try $0.spend(key) }
            // check: BoundTokenTests.replayed
            guard isFirst else { return .unproved(.replayed) }
        }
        let claims = JSONValue.members([
            "iss": .string("\(ports.issuer)"), "sub": .string("\(id)"),
            "aud": .string(ports.issuer.audience(of: target.resource)),
            "client_id": .string("\(id)"), "exp": .integer(now.adding(TokenLifetimes.access).seconds),
            "iat": .integer(now.seconds),
            "jti": .string("\(ClientToken.mark)\(Base64URL.encode(ports.random.bytes(16)))"),
            "scope": .string(names.joined(separator: " ")), ClientToken.secretClaim: .string(client.secretMark),
            "cnf": key.map { SignTokens.confirmation(of: $0.thumbprint) },
        ])
        return .given(
            SignedTokens(
                access: Secret(try await SignTokens.signAccess(claims, ports: ports)),
                expiresIn: TokenLifetimes.access, identity: nil, refresh: nil, scopes: names,
                isBound: key?.isProved == true))
    }
}

extension Stores {
    /// Whom a client's token for itself is for, with all scopes that it may have; nil for no such resource, for one
    /// that is not for this client, or for several.
    fileprivate func target(
        _ resources: [String], of client: Client, _ party: RelyingParty, issuer: Issuer
    ) throws -> AccessTarget? {
        guard let first = resources.first, resources != ["\(issuer)"] else {
            return AccessTarget(
                resource: nil, scopes: Right.allCases.filter(client.rights.contains).map(\.rawValue))
        }
        guard resources.count == 1, let identifier = ResourceIdentifier(first) else { return nil }
        return try resource(identifier, for: party).map {
            AccessTarget(resource: identifier, scopes: $0.api.scopes)
        }
    }
}
