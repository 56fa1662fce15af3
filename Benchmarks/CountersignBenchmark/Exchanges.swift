import BenchmarkSupport
import Synchronization

/// How long the server took for requests, by whether it took them on.
final class Exchanges: Sendable {
    /// The seconds from a request to its reply.
    struct Times: Sendable {
        var accepted: [Double] = []
        /// Of requests that were refused with 503, as there were too many.
        var refused: [Double] = []
    }

    private let times = Mutex<Times?>(nil)

    /// From now on, requests are recorded.
    func begin() { times.withLock { $0 = Times() } }

    /// Ends the recording.
    func end() -> Times {
        times.withLock { times in
            defer { times = nil }
            return times ?? Times()
        }
    }

    /// Records a request that has just been answered, unless it was to wait.
    func note(_ path: String, _ status: Int, from begin: ContinuousClock.Instant) {
        let isWait = path.contains("wait=") && !path.hasSuffix("wait=0")
        guard !isWait || status == 503 else { return }
        let time = (ContinuousClock.now - begin).inSeconds
        times.withLock { times in
            if status == 503 { times?.refused.append(time) } else { times?.accepted.append(time) }
        }
    }
}
