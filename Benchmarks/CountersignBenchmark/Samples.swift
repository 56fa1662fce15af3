import Synchronization

/// The steps of a cycle whose time is taken.
enum Step: String, CaseIterable, Sendable {
    /// The portal asks; until it has the reply.
    case ask
    /// From the portal's request to the announcement in the phone's app.
    case pendingTold = "pending_told"
    /// The phone fetches, decrypts and verifies the challenge.
    case fetch
    /// The phone signs, seals and sends the answer; until it has the reply.
    case answer
    /// From the phone's decision to the reply to the portal's long poll.
    case told
    /// All of it.
    case cycle
}

/// The times of all cycles while it is measured.
final class Samples: Sendable {
    private struct State {
        var isMeasuring = false
        var times: [Step: [Duration]] = [:]
    }

    private let state = Mutex(State())

    /// Notes a cycle that ended now.
    func note(_ times: [Step: Duration]) {
        state.withLock { state in
            guard state.isMeasuring else { return }
            for (step, time) in times { state.times[step, default: []].append(time) }
        }
    }

    /// From now on, cycles count.
    func begin() { state.withLock { $0.isMeasuring = true } }

    /// The times, in ascending order; no cycle counts any more.
    func end() -> [Step: [Duration]] {
        state.withLock { state in
            state.isMeasuring = false
            return state.times.mapValues { $0.sorted() }
        }
    }
}
