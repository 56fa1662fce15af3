import Crypto
package import CountersignWire
package import Encodings
import JOSE

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
    /// The scopes that were given.
    package let scopes: [String]
}

/// Signs the tokens of a redemption.
///
/// It is done after the commit: signing needs no rows, and a client that loses the reply starts again.
package enum SignTokens {
    /// The tokens.
    ///
    /// - Throws: ``StoreError/corruptRow(_:)`` if there is no key for them, or an error of signing.
    package static func sign(_ redeemed: RedeemCode.Redeemed, ports: Ports) async throws -> SignedTokens {
        let now = ports.time.now
        let keys = try ports.keys.current().tokens
        let family = redeemed.family
        let algorithm = redeemed.party.profile.idTokenAlgorithm
        guard let accessKey = keys.es256, let identityKey = keys.key(algorithm) else {
            throw StoreError.corruptRow("no token key")
        }
        let expiresAt = min(family.expiresAt, now.adding(TokenLifetimes.access))
        let random = Base64URL.encode(ports.random.bytes(16))
        let access = try await JWS.sign(
            accessClaims(of: family, issuer: ports.issuer, random: random, at: now, until: expiresAt).encoded,
            type: "at+jwt", by: accessKey, keyID: accessKey.keyID)
        var identity: String?
        if family.scopes.contains(TokenFamily.openID) {
            identity = try await JWS.sign(
                identityClaims(of: redeemed, access: access, issuer: ports.issuer, at: now).encoded, type: "JWT",
                by: identityKey, keyID: identityKey.keyID)
        }
        return SignedTokens(
            access: Secret(access), expiresIn: expiresAt - now, identity: identity.map { Secret($0) },
            scopes: family.scopes)
    }

    /// Spec: RFC 9068 §2.2.
    private static func accessClaims(
        of family: TokenFamily, issuer: Issuer, random: String, at now: Timestamp, until end: Timestamp
    ) -> JSONValue {
        [
            "iss": .string("\(issuer)"), "sub": .string("\(family.user)"), "aud": .string("\(issuer)"),
            "client_id": .string("\(family.client)"), "exp": .integer(end.seconds), "iat": .integer(now.seconds),
            "jti": .string("\(family.id).\(random)"), "scope": .string(family.scopes.joined(separator: " ")),
            "auth_time": .integer(family.authentication.at.seconds),
            "acr": .string(family.authentication.strength.rawValue),
            "amr": .array(family.authentication.methods.map(JSONValue.string)),
        ]
    }

    /// Spec: OpenID Connect Core 1.0 §2, §3.1.3.6.
    private static func identityClaims(
        of redeemed: RedeemCode.Redeemed, access: String, issuer: Issuer, at now: Timestamp
    ) -> JSONValue {
        let family = redeemed.family
        let half = SHA256.hash(data: Array(access.utf8)).prefix(16)
        return .members([
            "iss": .string("\(issuer)"), "sub": .string("\(family.user)"), "aud": .string("\(family.client)"),
            "exp": .integer(now.adding(TokenLifetimes.identity).seconds), "iat": .integer(now.seconds),
            "auth_time": .integer(family.authentication.at.seconds),
            "acr": .string(family.authentication.strength.rawValue),
            "amr": .array(family.authentication.methods.map(JSONValue.string)), "sid": .string(redeemed.sid),
            "nonce": redeemed.wanted.nonce.map(JSONValue.string),
            "at_hash": .string(Base64URL.encode(Array(half))),
        ])
    }
}
