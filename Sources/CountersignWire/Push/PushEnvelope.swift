import Crypto
public import Encodings
public import JOSE

/// The content of a push notification: the client's name and the short message.
public struct PushAlert: Hashable, Sendable {
    /// The most Unicode scalars the short message may have.
    public static let maximumMessageLength = 155

    /// The client's name.
    public let title: String
    /// The short message.
    public let body: String

    /// An alert of these texts.
    public init(title: String, body: String) {
        self.title = title
        self.body = body
    }

    /// SHA-256 over title and body, each as a netstring (`length:bytes,`), so that no two alerts share a hash.
    var digest: [UInt8] {
        Array(SHA256.hash(data: [title, body].flatMap { Array("\($0.utf8.count):\($0),".utf8) }))
    }

    var json: JSONValue { .members(["title": .string(title), "body": .string(body)]) }
}

/// The actions that a notification offers.
///
/// The signature does not cover the category: it only decides what the notification offers, and the device decides what
/// is done.
public enum PushCategory: String, Sendable, CaseIterable {
    /// Approve, deny and report.
    case confirm = "COUNTERSIGN_CONFIRM"
    /// Deny and report; to approve, the user must see the whole challenge.
    case review = "COUNTERSIGN_REVIEW"

    /// The category of a challenge.
    ///
    /// A challenge may be approved on the notification if the notification shows all of it and confirming is enough.
    ///
    /// - Parameters:
    ///   - question: the content of the challenge.
    ///   - methods: the methods that may answer it.
    ///   - asksNumber: whether a number must be typed.
    ///   - isClaimed: whether it was claimed by its code; the user must then be reminded of this when approving.
    ///   - alert: the content of the notification.
    public init(
        _ question: Question, methods: [AnswerMethod], asksNumber: Bool, isClaimed: Bool, showing alert: PushAlert
    ) {
        let isBare =
            question.details.isEmpty && question.signingData == nil && question.context == nil && !asksNumber
            && !isClaimed
        let shown = PushAlert(title: question.clientName.text, body: question.message.text)
        self = isBare && methods.contains(.confirm) && shown == alert ? .confirm : .review
    }
}

/// Why a push payload is refused.
public enum PushRefusal: Error, Equatable, Sendable {
    /// The payload is not that of a Countersign push, or is malformed.
    case malformed
    /// The signature or its header is refused.
    ///
    /// An unknown key may be a new one.
    case signature(JOSEError)
    /// The push is from another issuer, or for another enrollment.
    case notForUs
    /// The challenge has expired, or the push is from the future, by more than the allowed skew.
    case outOfTime
    /// The displayed alert is not the one that was signed.
    case alteredAlert
}

/// The announcement of a challenge: it is signed, holds nothing secret, and authorises nothing.
///
/// Spec: docs/protocol/pushes.md, *The announcement*.
public struct PushEnvelope: Hashable, Sendable {
    /// The `typ` of the signed part.
    public static let type = "countersign-push+jwt"
    /// The most bytes a payload may have.
    ///
    /// Spec: APNs provider API.
    public static let maximumPayloadSize = 4096

    /// The times an envelope may name, to the end of the year 9999: beyond, computing with them could overflow.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    /// The issuer.
    public let issuer: Issuer
    /// The enrollment that it is for.
    public let enrollment: EnrollmentID
    /// The challenge.
    public let challenge: ChallengeID
    /// The challenge's type.
    public let challengeType: TypeName
    /// When it was asked.
    public let issuedAt: Timestamp
    /// When it expires.
    public let expiresAt: Timestamp
    /// The content of the notification.
    public let alert: PushAlert

    /// An envelope of these parts; times are cut to the second.
    public init(
        issuer: Issuer, enrollment: EnrollmentID, challenge: ChallengeID, challengeType: TypeName,
        issuedAt: Timestamp, expiresAt: Timestamp, alert: PushAlert
    ) {
        self.issuer = issuer
        self.enrollment = enrollment
        self.challenge = challenge
        self.challengeType = challengeType
        self.issuedAt = issuedAt.wholeSeconds
        self.expiresAt = expiresAt.wholeSeconds
        self.alert = alert
    }

    /// The announcement, signed.
    ///
    /// - Parameters:
    ///   - key: the key for push envelopes, used for nothing else.
    ///   - keyID: its name at `/v1/push-keys`.
    ///   - category: the actions that the notification offers.
    ///   - badge: how many challenges are pending.
    public func signed(
        by key: any JWSSigningKey, keyID: String, category: PushCategory, badge: Int
    ) async throws -> SignedAnnouncement {
        let claims = JSONValue.members([
            "iss": .string("\(issuer)"), "aud": .string("\(enrollment)"), "jti": .string("\(challenge)"),
            "iat": .integer(issuedAt.seconds), "exp": .integer(expiresAt.seconds),
            "type": .string("\(challengeType)"), "alert": .string(Base64URL.encode(alert.digest)),
        ])
        let jws = try await JWS.sign(claims.encoded, type: Self.type, by: key, keyID: keyID)
        return SignedAnnouncement(
            challenge: challenge, enrollment: enrollment, alert: alert, category: category, badge: badge, jws: jws)
    }

    /// The enrollment that a payload names, unverified; nil when it is not a Countersign push.
    public static func enrollment(named payload: JSONValue) -> EnrollmentID? {
        payload["countersign"]?["enrollment"]?.string.flatMap { EnrollmentID($0) }
    }

    /// Verifies a payload.
    ///
    /// - Parameters:
    ///   - payload: the payload of the push.
    ///   - issuer: the issuer that must have sent it.
    ///   - enrollment: the enrollment that it must be for.
    ///   - keys: the issuer's keys for push envelopes.
    ///   - now: the current time.
    ///   - skew: how far clocks may differ, in seconds.
    public init(
        verifying payload: JSONValue, issuer: Issuer, enrollment: EnrollmentID, keys: JWKSet, now: Timestamp,
        skew: Int64
    ) throws(PushRefusal) {
        guard payload["countersign"]?["v"] == 1, let jws = payload["countersign"]?["jws"]?.string,
            let title = payload["aps"]?["alert"]?["title"]?.string,
            let body = payload["aps"]?["alert"]?["body"]?.string
        else { throw .malformed }
        let content: [UInt8]
        do {
            content = try JWS.verify(jws, algorithms: [.es256], type: .exactly(Self.type), keys: keys).payload
        } catch { throw .signature(error) }
        guard let claims = try? JSONValue(parsing: content),
            let challenge = claims["jti"]?.string.flatMap({ ChallengeID($0) }),
            let type = claims["type"]?.string.flatMap({ TypeName($0) }),
            let issued = claims["iat"]?.integer, let expires = claims["exp"]?.integer,
            Self.times.contains(issued), Self.times.contains(expires),
            let digest = claims["alert"]?.string.flatMap({ Base64URL.decode($0) })
        else { throw .malformed }
        guard claims["iss"] == .string("\(issuer)"), claims["aud"] == .string("\(enrollment)") else {
            throw .notForUs
        }
        self.init(
            issuer: issuer, enrollment: enrollment, challenge: challenge, challengeType: type,
            issuedAt: Timestamp(seconds: issued), expiresAt: Timestamp(seconds: expires),
            alert: PushAlert(title: title, body: body))
        guard issued <= now.adding(seconds: skew).seconds, expires > now.adding(seconds: -skew).seconds else {
            throw .outOfTime
        }
        guard constantTimeEqual(digest, alert.digest) else { throw .alteredAlert }
    }
}

/// The announcement of a challenge to one device, as a push brings it.
public struct SignedAnnouncement: Hashable, Sendable {
    /// The challenge.
    public let challenge: ChallengeID
    /// Whom it is for.
    public let enrollment: EnrollmentID
    /// What the notification shows.
    public let alert: PushAlert
    /// Which actions the notification offers.
    public let category: PushCategory
    /// How many challenges are pending.
    public let badge: Int
    /// The signed part: a compact JWS.
    let jws: String

    /// The whole payload, in APNs' form: at most ``PushEnvelope/maximumPayloadSize`` bytes of JSON.
    ///
    /// Spec: docs/protocol/pushes.md, *The announcement*.
    public var payload: JSONValue {
        .members([
            "aps": .members([
                "alert": alert.json, "category": .string(category.rawValue), "badge": .integer(Int64(badge)),
                "mutable-content": 1,
            ]),
            "countersign": .members([
                "v": 1, "id": .string("\(challenge)"), "enrollment": .string("\(enrollment)"), "jws": .string(jws),
            ]),
        ])
    }
}

/// Withdraws the notification of a challenge that has ended elsewhere.
///
/// It is not signed: it only makes an app ask the server and remove one notification. Somebody who can forge it could
/// have kept the notification from arriving as well. Spec: APNs provider API, *Pushing background updates*.
public enum PushWithdrawal {
    /// The payload, which wakes the app and shows nothing.
    public static func payload(of challenge: ChallengeID, for enrollment: EnrollmentID) -> JSONValue {
        [
            "aps": ["content-available": 1],
            "countersign": [
                "v": 1, "id": .string("\(challenge)"), "enrollment": .string("\(enrollment)"), "ended": true,
            ],
        ]
    }

    /// The challenge whose notification a payload withdraws; nil for another payload.
    public static func challenge(in payload: JSONValue) -> ChallengeID? {
        guard payload["countersign"]?["v"] == 1, payload["countersign"]?["ended"] == true else { return nil }
        return payload["countersign"]?["id"]?.string.flatMap { ChallengeID($0) }
    }
}
