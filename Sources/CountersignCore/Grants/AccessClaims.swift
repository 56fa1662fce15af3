import Crypto
import CountersignWire
import Encodings
import JOSE

/// What an access token says that we have signed, and that is not over.
///
/// Spec: RFC 9068 §4.
struct AccessClaims: Sendable {
    /// Its own name.
    let jti: String
    /// Whom it is about: a user, or the client itself.
    let subject: String
    /// The client that got it.
    let client: String
    /// The API that it is for; nil for us.
    let resource: ResourceIdentifier?
    /// Its scopes.
    let scopes: [String]
    /// The mark of the client's secret; nil in a token that is about a user.
    let secretMark: String?
    /// What it is bound to; nil for nothing.
    ///
    /// Spec: RFC 9449 §6.1, RFC 8705 §3.1.
    let keyThumbprint: KeyThumbprint?
    /// When it was signed.
    let issuedAt: Timestamp
    /// When it ends.
    let expiresAt: Timestamp
    /// The name of the key that has signed it.
    fileprivate let keyID: String

    /// Reads a token that is for us; nil if it is not such.
    ///
    /// - Throws: ``StoreError``.
    static func read(_ token: Secret<String>, ports: Ports) throws -> AccessClaims? {
        guard let claims = try readForAnybody(token, ports: ports) else { return nil }
        // A token of one resource is none at another. Spec: RFC 9068 §4.
        // check: ResourceTests.audience
        guard claims.resource == nil else { return nil }
        return claims
    }

    /// Reads a token, also one for an API; nil if it is not such.
    ///
    /// What we have signed does not change, so that a signature is verified once. Whether the token was taken back, the
    /// caller reads.
    ///
    /// - Throws: ``StoreError``.
    static func readForAnybody(_ token: Secret<String>, ports: Ports) throws -> AccessClaims? {
        let keys = try ports.keys.current().tokens.published
        let hash = SHA256.hash(data: Array(token.reveal().utf8))
        if let known = ports.verifiedTokens[hash] {
            // check: TokenStateTests.compromisedKey
            guard ports.time.now < known.expiresAt, keys[known.keyID] != nil else { return nil }
            return known
        }
        guard let claims = verified(token, by: keys, ports: ports) else { return nil }
        ports.verifiedTokens.keep(claims, as: hash)
        return claims
    }

    /// Whether the token is shown as it must be: with the key to which it is bound, and without a proof if it is bound
    /// to none; a connection may have a certificate all the same.
    ///
    /// Spec: RFC 9449 §4.3 (12), §7.1, §7.2; RFC 8705 §3.
    func isShown(by key: ProvedKey?) -> Bool {
        guard let keyThumbprint else { return key?.isProved != true }
        return keyThumbprint == key?.thumbprint
    }

    private static func verified(_ token: Secret<String>, by keys: JWKSet, ports: Ports) -> AccessClaims? {
        guard
            let verified = try? JWS.verify(
                token.reveal(), algorithms: [.es256], type: .exactly("at+jwt"), keys: keys),
            let keyID = verified.key.keyID,
            let claims = try? JSONValue(parsing: verified.payload), let audience = claims["aud"]?.string,
            let end = claims["exp"]?.integer, let start = claims["iat"]?.integer, let jti = claims["jti"]?.string,
            let subject = claims["sub"]?.string, let client = claims["client_id"]?.string,
            let scope = claims["scope"]?.string
        else { return nil }
        let isForUs = audience.hasSameBytes(as: "\(ports.issuer)")
        let resource = isForUs ? nil : ResourceIdentifier(audience)
        // check: TokenStateTests.signedByUs
        guard claims["iss"] == .string("\(ports.issuer)") else { return nil }
        // check: TokenStateTests.signedByUs
        guard ports.time.now.seconds < end else { return nil }
        // check: TokenStateTests.signedByUs
        guard isForUs || resource != nil else { return nil }
        return AccessClaims(
            jti: jti, subject: subject, client: client, resource: resource,
            scopes: scope.split(separator: " ").map(String.init), secretMark: claims[ClientToken.secretClaim]?.string,
            keyThumbprint: claims["cnf"].flatMap { KeyThumbprint(in: $0) },
            issuedAt: Timestamp(seconds: start),
            expiresAt: Timestamp(seconds: end), keyID: keyID)
    }
}
