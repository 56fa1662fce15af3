import Crypto
package import CountersignWire
package import Encodings
import JOSE

/// The tokens that a client gets, before they are signed.
package struct UnsignedTokens: Equatable, Sendable {
    /// The tokens that belong together, with the refresh token that is good now.
    package let family: TokenFamily
    /// Whom the access token is for, and its scopes.
    package let target: AccessTarget
    /// Whether the client gets an ID token.
    package let isIdentified: Bool
    /// Repeated in the ID token; nil for nothing.
    package let nonce: String?
    /// How the client uses the provider.
    package let party: RelyingParty
    /// What the access token is bound to; nil for nothing.
    package var keyThumbprint: KeyThumbprint?
    /// The request of whose tokens the client is told; nil where it fetches them.
    package var pushed: AuthorizationID?
    /// What the person has proved of an address; nil where the client has not asked by Cotter's calls.
    package var proved: ProvedAddress?

    /// The scopes of the access token.
    package var scopes: [String] { target.scopes }
}

/// The tokens of a redemption, as the client gets them.
package struct SignedTokens: Sendable {
    /// The access token, a JWT.
    ///
    /// Spec: RFC 9068 §2.
    package let access: Secret<String>
    /// How long the access token is good.
    package let expiresIn: Seconds
    /// The ID token; nil without the scope `openid`.
    ///
    /// Spec: OpenID Connect Core 1.0 §2.
    package let identity: Secret<String>?
    /// The refresh token; nil without the scope `offline_access`.
    package let refresh: Secret<String>?
    /// The scopes of the access token.
    package let scopes: [String]
    /// Whether the access token is bound to a key that proofs show, so that it is of the type DPoP.
    package let isBound: Bool
    /// What the person has authorized in detail; nil for nothing.
    package var details: JSONValue?
}

/// Signs the tokens of a redemption.
///
/// It is done after the commit: signing needs no rows, and a client that loses the reply starts again.
package enum SignTokens {
    /// The tokens.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` if there is no key for them, or an error of signing.
    package static func sign(_ given: UnsignedTokens, ports: Ports) async throws -> SignedTokens {
        let now = ports.time.now
        let keys = try ports.keys.current().tokens
        let family = given.family
        let algorithm = given.party.idTokenAlgorithm
        guard let identityKey = keys.key(algorithm) else { throw StoreError.corruptRow("no token key") }
        let expiresAt = min(family.expiresAt, now.adding(TokenLifetimes.access))
        let random = Base64URL.encode(ports.random.bytes(16))
        let details = try family.details(ports: ports)
        let access = try await signAccess(
            accessClaims(of: given, details, issuer: ports.issuer, random: random, at: now, until: expiresAt),
            ports: ports)
        let refresh = family.isOffline ? ports.hasher.refreshToken(family.generation, of: family.id) : nil
        var identity: String?
        if given.isIdentified {
            let claims = identityClaims(of: given, access: access, refresh: refresh, at: now, ports: ports)
            identity = try await JWS.sign(
                claims.encoded, type: "JWT", by: identityKey, keyID: identityKey.keyID)
        }
        return SignedTokens(
            access: Secret(access), expiresIn: expiresAt - now, identity: identity.map { Secret($0) },
            refresh: refresh, scopes: given.target.scopes, isBound: given.keyThumbprint?.isProved == true,
            details: details)
    }

    /// An access token with these claims.
    ///
    /// Spec: RFC 9068 §2.1.
    static func signAccess(_ claims: JSONValue, ports: Ports) async throws -> String {
        guard let key = try ports.keys.current().tokens.es256 else { throw StoreError.corruptRow("no token key") }
        return try await JWS.sign(claims.encoded, type: "at+jwt", by: key, keyID: key.keyID)
    }

    /// Spec: RFC 9068 §2.2, RFC 9396 §9.1.
    private static func accessClaims(
        of given: UnsignedTokens, _ details: JSONValue?, issuer: Issuer, random: String, at now: Timestamp,
        until end: Timestamp
    ) -> JSONValue {
        let family = given.family
        return .members([
            "iss": .string("\(issuer)"), "sub": .string("\(family.user)"),
            "aud": .string(issuer.audience(of: given.target.resource)),
            "client_id": .string("\(family.client)"), "exp": .integer(end.seconds), "iat": .integer(now.seconds),
            "jti": .string("\(family.id).\(random)"), "scope": .string(given.target.scopes.joined(separator: " ")),
            "auth_time": .integer(family.authentication.at.seconds),
            "acr": .string(family.authentication.strength.rawValue),
            "amr": .array(family.authentication.methods.map(JSONValue.string)),
            "cnf": given.keyThumbprint.map(confirmation(of:)), "authorization_details": details,
        ])
    }

    /// The claim that binds a token to a key.
    ///
    /// Spec: RFC 7800 §3.1, RFC 9449 §6.1, RFC 8705 §3.1.
    package static func confirmation(of thumbprint: KeyThumbprint) -> JSONValue {
        [thumbprint.member.name: .string(thumbprint.member.value)]
    }

    /// Spec: OpenID Connect Core 1.0 §2, §3.1.3.6; CIBA Core 1.0 §10.3.1, for tokens of which a client is told.
    private static func identityClaims(
        of given: UnsignedTokens, access: String, refresh: Secret<String>?, at now: Timestamp, ports: Ports
    ) -> JSONValue {
        let family = given.family
        let request = given.pushed.map { ports.hasher.authRequestID(of: $0) }
        let refreshHash = given.pushed == nil ? nil : refresh.map { half($0.reveal()) }
        return .members([
            "iss": .string("\(ports.issuer)"), "sub": .string("\(family.user)"), "aud": .string("\(family.client)"),
            "exp": .integer(now.adding(TokenLifetimes.identity).seconds), "iat": .integer(now.seconds),
            "auth_time": .integer(family.authentication.at.seconds),
            "acr": .string(family.authentication.strength.rawValue),
            "amr": .array(family.authentication.methods.map(JSONValue.string)), "sid": family.sid.map(JSONValue.string),
            "nonce": given.nonce.map(JSONValue.string),
            "at_hash": .string(half(access)),
            "urn:openid:params:jwt:claim:auth_req_id": request.map { .string($0.reveal()) },
            "urn:openid:params:jwt:claim:rt_hash": refreshHash.map(JSONValue.string),
        ])
    }

    /// The left half of a token's hash.
    ///
    /// Spec: OpenID Connect Core 1.0 §3.1.3.6.
    private static func half(_ token: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Array(token.utf8)).prefix(16)))
    }
}
