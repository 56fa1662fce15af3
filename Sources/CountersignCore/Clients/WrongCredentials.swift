package import CountersignWire
import Encodings
import Synchronization

/// Counts wrong credentials by the client that they name and by the caller's address, for all nodes together.
///
/// The limit applies only to wrong credentials. The right secret is accepted however many wrong ones came before, so
/// nobody can lock a client out. Spec: RFC 6749 §2.3.1, OWASP ASVS 6.3.1.
package final class WrongCredentials: Sendable {
    /// How many clients and addresses a node counts one by one; beyond it, all other clients share one count and all
    /// other addresses another.
    static let maximumKeys = 10_000

    /// The counts of this node, which make it write no more attempts to the store than the limit allows.
    private let counts = Mutex(Counts())

    /// Creates an instance without counts.
    package init() {}

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The credential was counted.
        case counted
        /// There were too many; `retryAfter` is the time until the next attempt is answered, 1 to 60 seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// Counts a wrong credential.
    ///
    /// An attempt within the limit of this node is counted in the store, together with those of other nodes. An
    /// attempt beyond it costs no transaction.
    ///
    /// - Parameters:
    ///   - client: the client id that the credential names, or `bearer` for a bearer token; nil if it names no valid
    ///     id.
    ///   - address: the caller's network address; nil if it is not known.
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
        _ limit: AttemptLimit, at now: Timestamp, in counts: inout Counts
    ) -> CountedAttempts {
        counts.clear(at: now)
        let isCounted = counts.byLimit.count < maximumKeys || counts.byLimit[limit] != nil
        let limit = isCounted ? limit : .otherWrongCredentials(maximum: limit.maximum)
        let known = counts.byLimit[limit].flatMap { $0.isOpen(at: now, window: limit.window) ? $0 : nil }
        let count = AttemptCount(
            number: (known?.number ?? 0) + 1, windowEnd: known?.windowEnd ?? now.adding(limit.window))
        counts.byLimit[limit] = count
        return CountedAttempts(limit: limit, count: count)
    }

    /// The counts of one node.
    private struct Counts {
        var byLimit: [AttemptLimit: AttemptCount] = [:]
        private var clearedAt = Timestamp(milliseconds: 0)

        /// Removes the counts whose windows have ended if there are too many, at most once a second, because it looks at all of them.
        mutating func clear(at now: Timestamp) {
            guard byLimit.count >= maximumKeys, abs(now.milliseconds - clearedAt.milliseconds) >= 1000 else { return }
            byLimit = byLimit.filter { $0.value.isOpen(at: now, window: $0.key.window) }
            clearedAt = now
        }
    }
}

extension AttemptCount {
    /// Whether the window has not ended; a window that ends too late was begun by a clock that was set back since.
    fileprivate func isOpen(at now: Timestamp, window: Seconds) -> Bool {
        now < windowEnd && windowEnd <= now.adding(window)
    }
}
