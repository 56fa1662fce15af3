import CountersignWire
import Synchronization

/// Counts and limits the waiting requests of each caller.
final class Waits: Sendable {
    /// The caller already has the maximum number of waiting requests.
    struct TooMany: Error {
        /// When the caller should try again.
        let retryAfter: Seconds = 5
    }

    private let counts = Mutex<[String: Int]>([:])

    /// How many requests of all callers wait now.
    var count: Int { counts.withLock { $0.values.reduce(0, +) } }

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
        let isAdmitted = counts.withLock { counts in
            guard counts[caller, default: 0] < limit else { return false }
            counts[caller, default: 0] += 1
            return true
        }
        guard isAdmitted else { throw TooMany() }
        return Place(of: caller, in: self)
    }

    /// A place that a waiting request takes.
    final class Place: Sendable {
        private let caller: String
        private let waits: Waits

        fileprivate init(of caller: String, in waits: Waits) {
            self.caller = caller
            self.waits = waits
        }

        deinit { waits.end(caller) }
    }

    private func end(_ caller: String) {
        counts.withLock { counts in
            let rest = counts[caller, default: 1] - 1
            counts[caller] = rest == 0 ? nil : rest
        }
    }
}
