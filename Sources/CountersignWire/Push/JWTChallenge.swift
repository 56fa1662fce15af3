import Crypto
package import Encodings
package import JOSE

/// A challenge as a JWT that the issuer signs, for a device that has JWKs.
///
/// The form is that of Okta's device SDK, as that of the answer is: ``JWTAnswer``. It holds what the device repeats in its
/// answer, and what its app shows; nothing in it is secret, and it authorises nothing.
///
/// Spec: docs/protocol/jwk-devices.md, *The challenge*.
package struct JWTChallenge: Sendable {
    /// Whether the app asks for the user's biometric.
    package enum UserVerification: String, Sendable {
        /// Possession answers.
        case none = "NONE"
        /// The biometric answers, where the device has one.
        case preferred = "PREFERRED"
        /// Only the biometric answers.
        case required = "REQUIRED"
    }

    /// Where the vendor's devices call, below the issuer.
    package static let path = "/idp/myaccount/app-authenticators"

    /// Where a challenge is answered, below the issuer.
    package static func answerPath(of challenge: String) -> String { "\(path)/challenge/\(challenge)/verify" }

    /// What the challenge asks.
    package let question: Question
    /// The text that the app shows.
    package let message: DisplayMessage
    /// The enrollment that it is for.
    package let enrollment: EnrollmentID
    /// Whose device it is.
    package let user: UserID
    /// The client whose app has enrolled the device.
    package let client: ClientID
    /// Whether the app asks for the user's biometric.
    package let verification: UserVerification
    /// When the challenge expires.
    package let expiresAt: Timestamp

    /// A challenge of these parts.
    package init(
        question: Question, message: DisplayMessage, to enrollment: EnrollmentID, of user: UserID, at client: ClientID,
        verification: UserVerification, expiresAt: Timestamp
    ) {
        self.question = question
        self.message = message
        self.enrollment = enrollment
        self.user = user
        self.client = client
        self.verification = verification
        self.expiresAt = expiresAt
    }

    /// What is signed.
    package var content: [UInt8] { claims.encoded }

    /// The JWT.
    ///
    /// - Parameter key: an RSA key of the issuer: the vendor's devices verify no other.
    package func signed(by key: PrivateJWK) async throws -> String {
        try await JWS.sign(content, type: JWTAnswer.type, by: key, keyID: key.keyID)
    }

    /// There is no claim `sub`, so that nobody takes it for an ID token.
    ///
    /// Spec: OpenID Connect Core 1.0 §2.
    private var claims: JSONValue {
        let id = JSONValue.string("\(question.challenge)")
        let path = Self.answerPath(of: "\(question.challenge)")
        return .members([
            "iss": .string("\(question.issuer)"), "aud": .string("\(client)"), "jti": id, "transactionId": id,
            "iat": .integer(question.askedAt.seconds), "exp": .integer(expiresAt.seconds),
            "nonce": .string("\(question.nonce)"), "verificationUri": .string(question.issuer.uri(path)),
            "orgId": .string(question.issuer.organizationID), "userId": .string("\(user)"),
            "authenticatorEnrollmentId": .string("\(enrollment)"), "methodEnrollmentId": .string("\(enrollment)"),
            "method": "push", "userVerification": .string(verification.rawValue),
            "appInstanceName": .string(question.clientName.text), "ver": 0,
            "challengeContext": .members([
                "transactionType": "CIBA", "transactionTime": .string("\(question.askedAt)"),
                "clientLocation": question.context.map { .string($0.text) },
                // The SDK decodes it, and shows nothing where a percent sign begins no code.
                "bindingMessage": .string(message.text.replacing("%", with: "%25")),
            ]),
        ])
    }
}

extension Issuer {
    /// The issuer's id as an organization of Okta's: always the same, so that apps find their enrollments by it.
    package var organizationID: String {
        "00o" + Hex.encode(Array(SHA256.hash(data: Array(description.utf8)).prefix(8)))
    }
}

/// The announcement of a challenge to a device that has JWKs, as a push brings it.
package struct JWTAnnouncement: Hashable, Sendable {
    /// The challenge.
    package let challenge: ChallengeID
    /// What the notification shows.
    package let alert: PushAlert
    /// Whether the app asks for the user's biometric.
    package let verification: JWTChallenge.UserVerification
    /// How many challenges are pending.
    package let badge: Int
    /// The challenge as a JWT.
    package let token: String

    /// An announcement of these parts.
    package init(
        challenge: ChallengeID, alert: PushAlert, verification: JWTChallenge.UserVerification, badge: Int, token: String
    ) {
        self.challenge = challenge
        self.alert = alert
        self.verification = verification
        self.badge = badge
        self.token = token
    }

    /// The whole payload, in APNs' form: at most ``PushEnvelope/maximumPayloadSize`` bytes of JSON.
    ///
    /// The actions of the second category open the app, where the biometric is asked for.
    package var payload: JSONValue {
        let category = verification == .none ? "OKTA_PUSH_CHALLENGE" : "OKTA_PUSH_UV_CHALLENGE"
        return [
            "aps": ["alert": alert.json, "category": .string(category), "badge": .integer(Int64(badge))],
            "payloadVersion": .string(Self.version), "challenge": .string(token),
        ]
    }

    /// The form of the payload, and of what a device fetches.
    package static let version = "IDXv1"
}
