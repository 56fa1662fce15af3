import CountersignWire
import Encodings
import Synchronization

/// Counts wrong credentials by the client they name and by where they come from, for all nodes together.
///
/// Only who sends a wrong secret meets the limit: a right one is let in however many wrong ones came before, so nobody
/// can lock a client out. Spec: RFC 6749 §2.3.1, OWASP ASVS 6.3.1.
public final class WrongCredentials: Sendable {
    /// How long wrong credentials count, in seconds.
    static let window: Int64 = 60
    /// How many may name one client within the window, whether or not there is such a client.
    static let maximumForClient = 20
    /// How many may come from one address within the window.
    static let maximumFromAddress = 100
    /// How many clients and addresses a node counts each for themselves; the others are counted as one.
    static let maximumKeys = 10_000

    /// What wrong credentials have in common.
    private struct Key: Hashable {
        let name: String
        let limit: Int

        static func client(_ name: String) -> Key { Key(name: "wrong client \(name)", limit: maximumForClient) }

        static func address(_ bytes: [UInt8]) -> Key {
            Key(name: "wrong from \(Hex.encode(bytes))", limit: maximumFromAddress)
        }

        static func others(_ limit: Int) -> Key { Key(name: "wrong others of \(limit)", limit: limit) }
    }

    /// What came to this node, which answers no more than the limit by itself, and so writes no more than that.
    private let counts = Mutex<[Key: AttemptCount]>([:])

    /// Counts nothing yet.
    public init() {}

    /// Notes a wrong credential.
    ///
    /// What is within the limit here is counted in the store with what came to other nodes; what is beyond it costs no
    /// transaction.
    ///
    /// - Parameters:
    ///   - client: the id it named, if that is an id; or `bearer`.
    ///   - address: where it came from, if that is known.
    ///   - ports: the world.
    /// - Returns: when there were too many, after how many seconds to come again: 1 to 60.
    /// - Throws: ``StoreError``.
    public func note(client: String?, address: [UInt8]?, ports: Ports) async throws -> Int64? {
        let now = ports.time.now
        let keys = [client.map(Key.client), address.map(Key.address)].compactMap(\.self)
        let here = counts.withLock { counts in keys.map { Self.count($0, at: now, in: &counts) } }
        if let seconds = Self.retryAfter(here, at: now) { return seconds }
        let everywhere = try await ports.store.commit { writer in
            try here.map { key, _ in (key, try writer.countAttempt(key.name, window: Self.window, at: now)) }
        }
        return Self.retryAfter(everywhere, at: now)
    }

    private static func retryAfter(_ counts: [(Key, AttemptCount)], at now: Timestamp) -> Int64? {
        counts.filter { key, count in count.number > key.limit }.map { $1.retryAfter(at: now) }.max()
            .map { min($0, window) }
    }

    private static func count(
        _ key: Key, at now: Timestamp, in counts: inout [Key: AttemptCount]
    ) -> (Key, AttemptCount) {
        if counts.count >= maximumKeys { counts = counts.filter { $0.value.isOpen(at: now, window: window) } }
        let key = counts.count < maximumKeys || counts[key] != nil ? key : .others(key.limit)
        let known = counts[key].flatMap { $0.isOpen(at: now, window: window) ? $0 : nil }
        let count = AttemptCount(
            number: (known?.number ?? 0) + 1, windowEnd: known?.windowEnd ?? now.adding(seconds: window))
        counts[key] = count
        return (key, count)
    }
}

extension AttemptCount {
    /// Whether a window has not ended; one that would end too late is of a clock that was set back since.
    fileprivate func isOpen(at now: Timestamp, window: Int64) -> Bool {
        now < windowEnd && windowEnd <= now.adding(seconds: window)
    }

    /// How many seconds there are until the window ends, at least one.
    func retryAfter(at now: Timestamp) -> Int64 {
        max(1, (windowEnd.milliseconds - now.milliseconds + 999) / 1000)
    }
}
