import CountersignCore
import CountersignWire
import Encodings
import Synchronization

/// An outbox that cannot be reached for a while.
final class FailingQueue: OutboxQueue {
    private let queue: any OutboxQueue
    private let failures: Mutex<Int>
    private let deaf: Mutex<Int>

    /// A queue over another one.
    ///
    /// - Parameters:
    ///   - queue: the other one.
    ///   - failures: how many looks fail before one succeeds.
    ///   - deafTo: how many deliveries cannot be noted.
    init(_ queue: any OutboxQueue, failures: Int, deafTo: Int = 0) {
        self.queue = queue
        self.failures = Mutex(failures)
        deaf = Mutex(deafTo)
    }

    private func fail(_ counter: borrowing Mutex<Int>) throws {
        let fails = counter.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        if fails { throw StoreError.unavailable }
    }

    func dueLanes(_ kind: OutboxMessage.Kind, at now: Timestamp) async throws -> [DueLane] {
        try fail(failures)
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

    func conclude(_ attempts: [EndedAttempt], at now: Timestamp) async throws -> [EventID: Settlement] {
        for attempt in attempts { if case .delivered = attempt.outcome { try fail(deaf) } }
        return try await queue.conclude(attempts, at: now)
    }

    func callbackAccess(
        to receivers: Set<CallbackReceiver>, at now: Timestamp
    ) async throws -> [CallbackReceiver: CallbackAccess] {
        try await queue.callbackAccess(to: receivers, at: now)
    }
}
