import CountersignCore
import CountersignWire
import Encodings

extension AnnounceChallenge.Order {
    /// The payload in APNs' format: JSON of at most ``PushEnvelope/maximumPayloadSize`` bytes.
    var payload: JSONValue {
        switch content {
        case .announcement(let announcement): announcement.payload
        case .jwt(let announcement): announcement.payload
        case .withdrawal(let challenge, let enrollment): PushWithdrawal.payload(of: challenge, for: enrollment)
        }
    }

    /// Whether the push shows nothing and only wakes the app.
    var isSilent: Bool {
        switch content {
        case .announcement, .jwt: false
        case .withdrawal: true
        }
    }
}
