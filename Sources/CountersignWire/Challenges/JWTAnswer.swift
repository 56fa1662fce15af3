import Encodings
package import JOSE

/// Why a token is no answer of a device.
package enum JWTAnswerRefusal: Error, Equatable, Sendable {
    /// It is larger than an answer, or not a JWT that one of the device's keys has signed.
    case token(JOSEError)
    /// This claim is missing, or does not have the form that it must have.
    case claim(JWTAnswer.Claim)
    /// The claim `keyType` names another purpose than that of the key that signed.
    case keyType
}

/// The answer of a device that has JWKs, after its signature was verified.
///
/// The form is that of Okta's device SDK, so that devices answer unchanged that have it. The signature covers which
/// challenge is answered, by its id and its nonce, and nothing of what was shown.
///
/// Spec: docs/protocol/jwk-devices.md, *The answer*.
package struct JWTAnswer: Equatable, Sendable {
    /// The claims that are read.
    package enum Claim: String, Sendable {
        case issuer = "iss"
        case audience = "aud"
        case subject = "sub"
        case id = "jti"
        case challenge = "tx"
        case nonce
        case issuedAt = "iat"
        case notBefore = "nbf"
        case expiresAt = "exp"
        case keyType
        case consent = "userConsent"
    }

    /// What the app says of what its user did.
    package enum Consent: String, Sendable {
        case approved = "APPROVED_CONSENT_PROMPT"
        case verified = "APPROVED_USER_VERIFICATION"
        case denied = "DENIED_CONSENT_PROMPT"
        case cancelledVerification = "CANCELLED_USER_VERIFICATION"
        case noVerificationNow = "UV_TEMPORARILY_UNAVAILABLE"
        case noVerificationEver = "UV_PERMANENTLY_UNAVAILABLE"
        case nothing = "NONE"
    }

    /// The header `typ`.
    package static let type = "okta-pushbind+jwt"
    /// The most octets that an answer may have.
    package static let maximumSize = 16 * 1024
    /// The most octets that a `jti` may have.
    static let longestID = 128
    /// The longest time between the first and the last moment at which an answer is good.
    package static let longestLife: Seconds = 600

    /// The enrollment that answers: `iss`.
    package let enrollment: EnrollmentID
    /// Whom the answer is for: `aud`.
    package let audience: String
    /// Whose device it is: `sub`.
    package let user: UserID
    /// The answer's own name, which is used once: `jti`.
    package let id: String
    /// The challenge that is answered: `tx`.
    package let challenge: ChallengeID
    /// The nonce of the challenge.
    package let nonce: Nonce
    /// When it was signed, by the device's clock: `iat`.
    package let issuedAt: Int64
    /// From when it is good: `nbf`, or `iat` if there is none.
    package let notBefore: Int64
    /// Until when it is good: `exp`.
    package let expiresAt: Int64
    /// What the user did, by the app's word.
    package let consent: Consent
    /// The purpose of the key that signed.
    package let role: DeviceJWKs.Role
    /// The thumbprint of that key.
    package let thumbprint: String

    /// Verifies an answer.
    ///
    /// - Parameters:
    ///   - token: the JWT in compact form.
    ///   - keys: the keys of the enrollment that the answer names.
    package init(_ token: String, by keys: DeviceJWKs) throws(JWTAnswerRefusal) {
        guard token.utf8.count <= Self.maximumSize else { throw .token(.tooLarge) }
        let verified: VerifiedJWS
        do {
            verified = try JWS.verify(
                token, algorithms: DeviceJWKs.algorithms, type: .exactly(Self.type), keys: JWKSet(keys.all))
        } catch {
            throw .token(error)
        }
        guard let role = keys.role(of: verified.key) else { throw .token(.unknownKeyID) }
        // The JSON reader refuses a name that occurs twice.
        guard let claims = (try? JSONValue(parsing: verified.payload))?.object else { throw .token(.malformed) }
        try self.init(claims, role: role, thumbprint: verified.key.thumbprint)
    }

    private init(
        _ claims: JSONObject, role: DeviceJWKs.Role, thumbprint: String
    ) throws(JWTAnswerRefusal) {
        func text<Value>(_ claim: Claim, _ read: (String) -> Value?) throws(JWTAnswerRefusal) -> Value {
            guard let value = claims[claim.rawValue]?.string.flatMap(read) else { throw .claim(claim) }
            return value
        }
        func time(_ claim: Claim) throws(JWTAnswerRefusal) -> Int64 {
            guard let value = claims[claim.rawValue]?.integer, (0...1 << 40).contains(value) else {
                throw .claim(claim)
            }
            return value
        }
        enrollment = try text(.issuer) { EnrollmentID($0) }
        audience = try text(.audience) { $0 }
        user = try text(.subject) { UserID($0) }
        // A database keeps no text with U+0000.
        id = try text(.id) { (1...Self.longestID).contains($0.utf8.count) && !$0.utf8.contains(0) ? $0 : nil }
        challenge = try text(.challenge) { ChallengeID($0) }
        nonce = try text(.nonce) { Nonce($0) }
        issuedAt = try time(.issuedAt)
        expiresAt = try time(.expiresAt)
        notBefore = claims[Claim.notBefore.rawValue] == nil ? issuedAt : try time(.notBefore)
        guard notBefore <= issuedAt, issuedAt < expiresAt, expiresAt - notBefore <= Self.longestLife.value else {
            throw .claim(.expiresAt)
        }
        let stated: DeviceJWKs.Role = try text(.keyType) { DeviceJWKs.Role(rawValue: $0) }
        // check: JWTAnswerTests.keyType
        guard stated == role else { throw .keyType }
        guard let word = claims["challengeResponseContext"]?[Claim.consent.rawValue]?.string,
            let consent = Consent(rawValue: word)
        else { throw .claim(.consent) }
        self.consent = consent
        self.role = role
        self.thumbprint = thumbprint
    }

    /// The user's decision; nil if there is none, or another key than that of the decision has signed.
    ///
    /// A good signature by itself is no approval: devices sign as well that their user has cancelled, or was not asked.
    package var decision: Decision? {
        switch (consent, role) {
        case (.approved, .proofOfPossession), (.verified, .userVerification): .approved(role.method, number: nil)
        case (.denied, .proofOfPossession): .denied
        case (.approved, .userVerification), (.verified, .proofOfPossession), (.denied, .userVerification),
            (.cancelledVerification, _), (.noVerificationNow, _), (.noVerificationEver, _), (.nothing, _):
            nil
        }
    }

    /// Whether a reader whose clock may differ by some seconds takes it at a time.
    package func isTimely(at now: Timestamp, tolerance: Seconds) -> Bool {
        notBefore <= now.adding(tolerance).seconds && now.adding(-tolerance).seconds < expiresAt
    }
}
