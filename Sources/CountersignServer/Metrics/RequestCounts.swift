import Synchronization

/// What is counted of requests: by route, method and status, how long they took, and why they were refused.
///
/// There is one short lock for a request; routes, methods and codes come from lists of ours, so a caller cannot make
/// the tables grow.
final class RequestCounts: Sendable {
    /// The upper bounds of the histogram's buckets, in seconds.
    static let bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// Requests that are counted together.
    struct Key: Hashable, Sendable {
        let route: String
        let method: String
    }

    /// What is known of them.
    struct Series: Sendable {
        var statuses: [Int: Int] = [:]
        /// By bucket, the last one without a bound; not cumulative.
        var buckets = [Int](repeating: 0, count: RequestCounts.bounds.count + 1)
        var seconds = 0.0

        fileprivate mutating func note(_ status: Int, _ seconds: Double?) {
            statuses[status, default: 0] += 1
            guard let seconds else { return }
            self.seconds += seconds
            // Most are quick, so the first bounds are the likely ones.
            buckets[RequestCounts.bounds.firstIndex { seconds <= $0 } ?? RequestCounts.bounds.count] += 1
        }
    }

    private struct State {
        var series: [Key: Series] = [:]
        var refusals: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - key: what it was.
    ///   - status: the status of the reply.
    ///   - duration: how long it took; nil when it was to wait, which says nothing about the server.
    func note(_ key: Key, status: Int, duration: Duration?) {
        let seconds = duration.map { duration in
            let (seconds, attoseconds) = duration.components
            return Double(seconds) + Double(attoseconds) / 1e18
        }
        state.withLock { $0.series[key, default: Series()].note(status, seconds) }
    }

    /// Counts a refusal, by a code of its door's.
    func note(refusal code: String) {
        state.withLock { $0.refusals[code, default: 0] += 1 }
    }

    /// What was counted so far.
    var counts: (series: [Key: Series], refusals: [String: Int]) {
        state.withLock { ($0.series, $0.refusals) }
    }
}
