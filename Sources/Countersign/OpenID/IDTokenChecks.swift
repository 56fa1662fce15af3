import CountersignWire
import Crypto
import Encodings
import JOSE

/// The checks of an ID token, in the order of the specification.
///
/// Spec: OpenID Connect Core 1.0 §3.1.3.7.
struct IDTokenChecks: Sendable {
    /// What a token belongs to.
    enum Occasion: Sendable {
        /// A sign-in: the token repeats its nonce and meets its wishes.
        case signIn(AuthorizationRequest)
        /// A refresh: the token is about the same person and the same authentication.
        ///
        /// Spec: OpenID Connect Core 1.0 §12.2.
        case refresh(of: Identity)
        /// A sign-in of a device: the token is about its user.
        case device(of: String)
        /// A sign-in that was approved elsewhere: no browser was sent with a nonce.
        case elsewhere
    }

    let registration: CheckedRegistration
    let algorithms: Set<JWSAlgorithm>
    let now: Timestamp

    /// The identity in a token.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - accessToken: the access token that came along.
    ///   - keys: the issuer's keys.
    ///   - occasion: what the token belongs to.
    func identity(
        in token: String, with accessToken: Secret<String>, keys: JWKSet, _ occasion: Occasion
    ) throws(IDTokenRefusal) -> Identity {
        let claims = try verified(token, keys)
        guard claims["iss"]?.string?.hasSameBytes(as: registration.issuer.description) == true else {
            throw .fault(.issuer)
        }
        try checkAudience(claims)
        guard let identity = Identity(claims), let issuedAt = claims["iat"]?.integer,
            let expiresAt = claims["exp"]?.integer
        else { throw .fault(.malformed) }
        // 9 and 10. Sums of hostile numbers must not overflow.
        guard expiresAt > now.seconds - allowedSkew else { throw .fault(.expired) }
        guard issuedAt <= now.seconds + allowedSkew else { throw .fault(.future) }
        try checkAccessToken(claims, accessToken)
        switch occasion {
        case .signIn(let request): try check(identity, answers: request)
        case .refresh(let earlier): try check(identity, follows: earlier)
        case .device(let user):
            guard identity.subject.hasSameBytes(as: user) else { throw .fault(.subject) }
        case .elsewhere:
            // A token with a nonce answers some browser's request.
            guard identity.claims["nonce"] == nil else { throw .fault(.nonce) }
        }
        return identity
    }

    /// 6 to 8: the signature, by an algorithm that the issuer lists and a key of its own that is for signing.
    private func verified(_ token: String, _ keys: JWKSet) throws(IDTokenRefusal) -> JSONObject {
        let verified: VerifiedJWS
        do throws(JOSEError) {
            verified = try JWS.verify(token, algorithms: algorithms, type: .unchecked, keys: keys)
        } catch {
            switch error {
            case .unexpectedAlgorithm: throw .fault(.algorithm)
            case .unknownKeyID: throw .unknownKey
            case .wrongKey, .unsupportedKey, .weakKey, .privateKey, .duplicateKeyID: throw .fault(.key)
            case .badSignature: throw .fault(.signature)
            case .malformed, .tooLarge, .unexpectedType, .criticalHeader: throw .fault(.malformed)
            }
        }
        // A token of another kind, such as an access token, is no ID token. Spec: RFC 8725 §3.12.
        guard verified.header["typ"]?.string.map({ $0.uppercased() == "JWT" }) ?? (verified.header["typ"] == nil),
            let claims = (try? JSONValue(parsing: verified.payload))?.object
        else { throw .fault(.malformed) }
        return claims
    }

    /// 3 to 5: for this client, and for nobody else, because no other client is trusted.
    private func checkAudience(_ claims: JSONObject) throws(IDTokenRefusal) {
        let audiences = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
        guard audiences == [.string(registration.clientID)] else { throw .fault(.audience) }
        if let party = claims["azp"], party != .string(registration.clientID) { throw .fault(.audience) }
    }

    /// Spec: OpenID Connect Core 1.0 §3.1.3.8.
    private func checkAccessToken(_ claims: JSONObject, _ token: Secret<String>) throws(IDTokenRefusal) {
        guard let hash = claims["at_hash"] else { return }
        // SHA-256 is the hash of both algorithms.
        let half = Array(SHA256.hash(data: Array(token.reveal().utf8)).prefix(16))
        guard let given = hash.string.flatMap({ Base64URL.decode($0) }), constantTimeEqual(given, half) else {
            throw .fault(.accessToken)
        }
    }

    /// 11 to 13.
    private func check(_ identity: Identity, answers request: AuthorizationRequest) throws(IDTokenRefusal) {
        guard let nonce = identity.claims["nonce"]?.string, request.nonce.isSame(as: Secret(nonce)) else {
            throw .fault(.nonce)
        }
        if !request.wanted.acrValues.isEmpty {
            guard let acr = identity.acr, request.wanted.acrValues.contains(where: { $0.hasSameBytes(as: acr) }) else {
                throw .fault(.acr)
            }
        }
        if let age = request.wanted.maxAge {
            guard let time = identity.authTime, time <= now.seconds + allowedSkew,
                time >= now.seconds - allowedSkew - min(max(0, age), now.seconds)
            else { throw .fault(.authTime) }
        }
    }

    private func check(_ identity: Identity, follows earlier: Identity) throws(IDTokenRefusal) {
        guard identity.subject.hasSameBytes(as: earlier.subject) else { throw .fault(.subject) }
        // A nonce need not come again; one that comes must be the same.
        if let nonce = identity.claims["nonce"], nonce != earlier.claims["nonce"] { throw .fault(.nonce) }
        if let time = identity.authTime, time != earlier.authTime { throw .fault(.authTime) }
    }
}

/// Why an ID token was refused, and whether other keys could make a difference.
enum IDTokenRefusal: Error {
    /// The issuer may have published a key since its keys were fetched.
    case unknownKey
    /// It is refused for good.
    case fault(IDTokenFault)

    var fault: IDTokenFault {
        switch self {
        case .unknownKey: .key
        case .fault(let fault): fault
        }
    }
}
