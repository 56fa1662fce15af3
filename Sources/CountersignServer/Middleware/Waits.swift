import CountersignWire
import Synchronization

/// Counts and limits the waiting requests of each caller.
final class Waits: Sendable {
    /// The caller already has the maximum number of waiting requests.
    struct TooMany: Error {
        /// When the caller should try again.
        let retryAfter: Seconds = 5
    }

    private struct State {
        /// The waiting requests of each caller.
        var counts: [String: Int] = [:]
        /// All of them; one may count for several callers.
        var total = 0
    }

    private let state = Mutex(State())

    /// How many requests of all callers wait now.
    var count: Int { state.withLock { $0.total } }

    /// Runs work that may take long, unless the caller already has the maximum number of waiting requests.
    ///
    /// - Throws: ``TooMany``, and the errors of the body.
    func waiting<Result: Sendable>(
        as caller: String, atMost limit: Int, _ body: () async throws -> Result
    ) async throws -> Result {
        let place = try place(as: caller, atMost: limit)
        defer { withExtendedLifetime(place) {} }
        return try await body()
    }

    /// A place among the waiting requests of a caller, which is free again when the value is gone.
    ///
    /// - Throws: ``TooMany``.
    func place(as caller: String, atMost limit: Int) throws(TooMany) -> Place {
        try place(as: [(name: caller, limit: limit)])
    }

    /// The place of one request among those of each of several callers, or none of them.
    ///
    /// - Throws: ``TooMany``.
    func place(as callers: [(name: String, limit: Int)]) throws(TooMany) -> Place {
        let isAdmitted = state.withLock { state in
            for caller in callers where state.counts[caller.name, default: 0] >= caller.limit { return false }
            for caller in callers { state.counts[caller.name, default: 0] += 1 }
            state.total += 1
            return true
        }
        guard isAdmitted else { throw TooMany() }
        return Place(of: callers.map { $0.name }, in: self)
    }

    /// A place that a waiting request takes.
    final class Place: Sendable {
        private let callers: [String]
        private let waits: Waits

        fileprivate init(of callers: [String], in waits: Waits) {
            self.callers = callers
            self.waits = waits
        }

        deinit { waits.end(callers) }
    }

    private func end(_ callers: [String]) {
        state.withLock { state in
            for caller in callers {
                let rest = state.counts[caller, default: 1] - 1
                state.counts[caller] = rest == 0 ? nil : rest
            }
            state.total -= 1
        }
    }
}
