import CountersignWire
import Synchronization

/// When devices have polled last, and how often each of them may.
///
/// It is held in memory, so that a poll writes nothing. Each node counts for itself: whoever polls two of them is found
/// too fast later.
///
/// Spec: RFC 8628 §3.5.
final class DevicePolls: Sendable {
    private struct Key: Hashable {
        let signIn: AuthorizationID
        let client: ClientID
    }

    private let paces = BoundedMap<Key, DevicePollPace>(limit: 65_536)

    /// The pace of a client at a sign-in.
    func pace(of signIn: AuthorizationID, by client: ClientID) -> DevicePollPace {
        paces.value(of: Key(signIn: signIn, client: client)) { DevicePollPace() }
    }
}

/// How often one device may poll.
final class DevicePollPace: Sendable {
    /// Between two polls, unless the device was too fast before.
    ///
    /// Spec: RFC 8628 §3.2.
    static let interval: Seconds = 5
    /// How much longer it must pause each time that it was too fast.
    private static let step: Seconds = 5
    /// The network may delay a poll more than the next one.
    private static let tolerance: Int64 = 500

    private let state = Mutex<(last: Timestamp?, interval: Seconds)>(
        (last: nil, interval: DevicePollPace.interval))

    /// For how long the device must pause between two polls now.
    var interval: Seconds { state.withLock { $0.interval } }

    /// Notes a poll.
    ///
    /// - Returns: whether it came too soon after the one before; the first one never does.
    func isTooFast(at now: Timestamp) -> Bool {
        state.withLock { state in
            defer { state.last = now }
            guard let last = state.last, last <= now,
                now.milliseconds + Self.tolerance < last.adding(state.interval).milliseconds
            else { return false }
            state.interval = state.interval + Self.step
            return true
        }
    }
}
