import Synchronization

/// Counts requests and refusals, and measures how long requests take.
///
/// Each request takes one short lock. Routes, methods and codes come from fixed lists, so a caller cannot make the
/// tables grow.
final class RequestCounts: Sendable {
    /// The upper bounds of the histogram's buckets, in seconds.
    static let bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// What the requests of one series have in common.
    struct Key: Hashable, Sendable {
        let route: String
        let method: String
    }

    /// The counts of one series.
    struct Series: Sendable {
        var statuses: [Int: Int] = [:]
        /// The requests in each bucket, not cumulative; the last bucket has no bound.
        var buckets = [Int](repeating: 0, count: RequestCounts.bounds.count + 1)
        var seconds = 0.0

        fileprivate mutating func note(_ status: Int, _ seconds: Double?) {
            statuses[status, default: 0] += 1
            guard let seconds else { return }
            self.seconds += seconds
            // Most requests are fast, so the search begins with the lowest bound.
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
    ///   - key: its route and method.
    ///   - status: the status of the reply.
    ///   - duration: how long it took; nil if it waited, because that says nothing about the server.
    func note(_ key: Key, status: Int, duration: Duration?) {
        let seconds = duration.map { duration in
            let (seconds, attoseconds) = duration.components
            return Double(seconds) + Double(attoseconds) / 1e18
        }
        state.withLock { $0.series[key, default: Series()].note(status, seconds) }
    }

    /// Counts a refusal by the code from its door.
    func note(refusal code: String) {
        state.withLock { $0.refusals[code, default: 0] += 1 }
    }

    var counts: (series: [Key: Series], refusals: [String: Int]) {
        state.withLock { ($0.series, $0.refusals) }
    }
}
