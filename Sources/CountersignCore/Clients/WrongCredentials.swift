package import CountersignWire
import Encodings
import Synchronization

/// Counts wrong credentials by the client they name and by where they come from, for all nodes together.
///
/// Only who sends a wrong secret meets the limit: a right one is let in however many wrong ones came before, so nobody
/// can lock a client out. Spec: RFC 6749 §2.3.1, OWASP ASVS 6.3.1.
package final class WrongCredentials: Sendable {
    /// How many clients and addresses a node counts each for themselves; the others are counted as one.
    static let maximumKeys = 10_000

    /// What came to this node, which answers no more than the limit by itself, and so writes no more than that.
    private let counts = Mutex<[AttemptLimit: AttemptCount]>([:])

    /// Counts nothing yet.
    package init() {}

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The credential was counted.
        case counted
        /// There were too many; the seconds until the next attempt is answered, 1 to 60.
        case tooMany(retryAfter: Seconds)
    }

    /// Counts a wrong credential.
    ///
    /// What is within the limit here is counted in the store with what came to other nodes; what is beyond it costs no
    /// transaction.
    ///
    /// - Parameters:
    ///   - client: the id it named, if that is an id; or `bearer`.
    ///   - address: where it came from, if that is known.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package func count(client: String?, address: [UInt8]?, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let limits: [AttemptLimit] = [
            client.map { .wrongCredentials(of: $0) }, address.map { .wrongCredentialsFrom($0) },
        ].compactMap(\.self)
        let here = counts.withLock { counts in limits.map { Self.count($0, at: now, in: &counts) } }
        let outcome = Self.outcome(here, at: now)
        guard outcome == .counted else { return outcome }
        let everywhere = try await ports.commit(at: now, as: .system) { work in
            try here.map { try work.count($0.limit) }
        }
        return Self.outcome(everywhere, at: now)
    }

    private static func outcome(_ counts: [CountedAttempts], at now: Timestamp) -> Outcome {
        let seconds = counts.filter(\.isExceeded).map { $0.retryAfter(at: now) }.max()
        return seconds.map { .tooMany(retryAfter: $0) } ?? .counted
    }

    private static func count(
        _ limit: AttemptLimit, at now: Timestamp, in counts: inout [AttemptLimit: AttemptCount]
    ) -> CountedAttempts {
        if counts.count >= maximumKeys { counts = counts.filter { $0.value.isOpen(at: now, window: $0.key.window) } }
        let isCounted = counts.count < maximumKeys || counts[limit] != nil
        let limit = isCounted ? limit : .otherWrongCredentials(maximum: limit.maximum)
        let known = counts[limit].flatMap { $0.isOpen(at: now, window: limit.window) ? $0 : nil }
        let count = AttemptCount(
            number: (known?.number ?? 0) + 1, windowEnd: known?.windowEnd ?? now.adding(limit.window))
        counts[limit] = count
        return CountedAttempts(limit: limit, count: count)
    }
}

extension AttemptCount {
    /// Whether a window has not ended; one that would end too late is of a clock that was set back since.
    fileprivate func isOpen(at now: Timestamp, window: Seconds) -> Bool {
        now < windowEnd && windowEnd <= now.adding(window)
    }
}
