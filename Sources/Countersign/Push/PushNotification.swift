public import CountersignWire
import Encodings
import Foundation

/// A push notification of Countersign, parsed from what the system handed over, and not yet verified.
///
/// See ``Authenticator/receive(_:allowedClockSkew:)``. Spec: docs/protocol/pushes.md, *What a device verifies*.
public struct PushNotification: Sendable {
    /// The enrollment that the push names.
    let enrollment: EnrollmentID
    /// The part of the payload that belongs to Countersign.
    let payload: JSONValue

    /// The challenge whose notification this push withdraws, because it was answered on another device or cancelled;
    /// nil for a push that announces a challenge.
    ///
    /// Remove the notification that holds this id at `countersign`, `id`. The id is not signed, so it is only a hint:
    /// ``Authenticator/receive(_:allowedClockSkew:)`` asks the server for the pending challenges.
    public var withdrawnChallenge: ChallengeID? { PushWithdrawal.challenge(in: payload) }

    /// Reads a payload in JSON; nil when it is not a push of Countersign.
    public init?(json: [UInt8]) {
        guard json.count <= PushEnvelope.maximumPayloadSize, let payload = try? JSONValue(parsing: json),
            let enrollment = PushEnvelope.enrollment(named: payload)
        else { return nil }
        self.enrollment = enrollment
        self.payload = payload
    }

    /// Reads the system's `userInfo`; nil when it is not a push of Countersign.
    public init?(userInfo: [AnyHashable: Any]) {
        // Untrusted input goes through the one JSON reader, in the length in which it arrived.
        guard userInfo["countersign"] is [String: Any], JSONSerialization.isValidJSONObject(userInfo),
            let json = try? JSONSerialization.data(withJSONObject: userInfo, options: .withoutEscapingSlashes)
        else { return nil }
        self.init(json: Array(json))
    }
}
