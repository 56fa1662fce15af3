import Synchronization

/// How long the server took for requests, by whether it took them on.
package final class Exchanges: Sendable {
    /// The seconds from a request to its reply.
    package struct Times: Sendable {
        package var accepted: [Double] = []
        /// Of requests that were refused with 503, as there were too many.
        package var refused: [Double] = []

        package init() {}
    }

    private struct State {
        var times = Times()
        /// When recording begins and ends.
        var begin: ContinuousClock.Instant?
        var end: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    package init() {}

    /// What was recorded.
    package var times: Times { state.withLock { $0.times } }

    /// From now on, requests that begin are recorded.
    package func begin() { state.withLock { $0 = State(begin: .now) } }

    /// Requests that begin from now on are not recorded; those under way are.
    package func stop() { state.withLock { $0.end = .now } }

    /// Records a request that has just been answered, unless it was to wait.
    func note(_ path: String, _ status: Int, from begin: ContinuousClock.Instant) {
        let isWait = path.contains("wait=") && !path.hasSuffix("wait=0")
        guard !isWait || status == 503 else { return }
        let time = (ContinuousClock.now - begin).inSeconds
        state.withLock { state in
            guard let first = state.begin, begin >= first, state.end.map({ begin < $0 }) ?? true else { return }
            if status == 503 { state.times.refused.append(time) } else { state.times.accepted.append(time) }
        }
    }
}
