public import CountersignWire
import Encodings
import Foundation

/// A push notification of ours, as the system handed it over: read, and not yet verified.
///
/// See ``Authenticator/receive(_:allowedClockSkew:)``. Spec: design 3.6.
public struct PushNotification: Sendable {
    /// The enrollment it says it is for.
    let enrollment: EnrollmentID
    /// The payload, as far as it is ours.
    let payload: JSONValue

    /// The challenge whose notification it takes back, because it was answered elsewhere or taken back; nil for a push
    /// that announces one.
    ///
    /// Take the notification away that holds this id at `countersign`, `id`. Nobody has signed it: it is a hint, and
    /// ``Authenticator/receive(_:allowedClockSkew:)`` looks how things stand.
    public var withdrawnChallenge: ChallengeID? { PushWithdrawal.challenge(in: payload) }

    /// Reads a payload in JSON; nil when it is not a push of ours.
    public init?(json: [UInt8]) {
        guard json.count <= PushEnvelope.maximumPayloadSize, let payload = try? JSONValue(parsing: json),
            let enrollment = PushEnvelope.enrollment(named: payload)
        else { return nil }
        self.enrollment = enrollment
        self.payload = payload
    }

    /// Reads what the system calls `userInfo`; nil when it is not a push of ours.
    public init?(userInfo: [AnyHashable: Any]) {
        // Through JSON, so that there is one reader for what strangers send; as short as it came.
        guard userInfo["countersign"] is [String: Any], JSONSerialization.isValidJSONObject(userInfo),
            let json = try? JSONSerialization.data(withJSONObject: userInfo, options: .withoutEscapingSlashes)
        else { return nil }
        self.init(json: Array(json))
    }
}
