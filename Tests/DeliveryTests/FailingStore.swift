import CountersignCore
import CountersignWire
import Encodings
import Synchronization

/// An outbox that cannot be reached for a while.
final class FailingQueue: OutboxQueue {
    private let queue: any OutboxQueue
    private let failures: Mutex<Int>

    /// A queue over another one.
    ///
    /// - Parameters:
    ///   - queue: the other one.
    ///   - failures: how many looks fail before one succeeds.
    init(_ queue: any OutboxQueue, failures: Int) {
        self.queue = queue
        self.failures = Mutex(failures)
    }

    func dueLanes(_ kind: OutboxMessage.Kind, at now: Timestamp) async throws -> [DueLane] {
        try failures.fail()
        return try await queue.dueLanes(kind, at: now)
    }

    func lease(
        _ kind: OutboxMessage.Kind, _ shares: [LaneShare], now: Timestamp, until: Timestamp
    ) async throws -> [LeasedMessage] {
        try await queue.lease(kind, shares, now: now, until: until)
    }

    func release(_ messages: [LeasedMessage], at now: Timestamp) async throws {
        try await queue.release(messages, at: now)
    }

    func nextDue(_ kind: OutboxMessage.Kind, after time: Timestamp) async throws -> Timestamp? {
        try await queue.nextDue(kind, after: time)
    }

    func callbackAccess(
        to receivers: Set<CallbackReceiver>, at now: Timestamp
    ) async throws -> [CallbackReceiver: CallbackAccess] {
        try await queue.callbackAccess(to: receivers, at: now)
    }
}

/// A store whose next transactions fail, for one that cannot be reached for a while.
struct FailingStore: Store {
    private final class Failures: Sendable {
        let left: Mutex<Int>

        init(_ count: Int) { left = Mutex(count) }
    }

    private let store: any Store
    private let failures: Failures

    /// A store over another one, with how many transactions fail before one succeeds.
    init(_ store: any Store, failures: Int) {
        self.store = store
        self.failures = Failures(failures)
    }

    func auditEnd() async throws -> Int64 { try await store.auditEnd() }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result {
        try await store.read(body)
    }

    func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result {
        try failures.left.fail()
        return try await store.commit(body)
    }
}

extension Mutex<Int> {
    /// Fails, so many times as it holds.
    fileprivate borrowing func fail() throws {
        let fails = withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        if fails { throw StoreError.unavailable }
    }
}
