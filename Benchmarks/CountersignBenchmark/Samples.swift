import Synchronization

/// The measured steps of a cycle.
enum Step: String, CaseIterable, Sendable {
    /// From the portal's request to its reply.
    case ask
    /// From the portal's request to the announcement in the phone's app.
    case pendingTold = "pending_told"
    /// The phone fetches, decrypts and verifies the challenge.
    case fetch
    /// The phone signs, seals and sends the answer, and gets the reply.
    case answer
    /// From the phone's decision to the reply to the portal's long poll.
    case told
    /// The whole cycle.
    case cycle
}

/// The times of all cycles during the measurement.
final class Samples: Sendable {
    private struct State {
        var isMeasuring = false
        var times: [Step: [Duration]] = [:]
    }

    private let state = Mutex(State())

    /// Records a cycle that has just ended.
    func note(_ times: [Step: Duration]) {
        state.withLock { state in
            guard state.isMeasuring else { return }
            for (step, time) in times { state.times[step, default: []].append(time) }
        }
    }

    /// From now on, cycles are recorded.
    func begin() { state.withLock { $0.isMeasuring = true } }

    /// Ends the recording; returns the times in ascending order.
    func end() -> [Step: [Duration]] {
        state.withLock { state in
            state.isMeasuring = false
            return state.times.mapValues { $0.sorted() }
        }
    }
}
