import CountersignCore
import CountersignWire
import Encodings

extension AnnounceChallenge.Order {
    /// What is sent, in APNs' form: at most ``PushEnvelope/maximumPayloadSize`` bytes of JSON.
    var payload: JSONValue {
        switch content {
        case .announcement(let announcement): announcement.payload
        case .withdrawal(let challenge, let enrollment): PushWithdrawal.payload(of: challenge, for: enrollment)
        }
    }

    /// Whether it shows nothing and only wakes the app.
    var isSilent: Bool {
        switch content {
        case .announcement: false
        case .withdrawal: true
        }
    }
}
