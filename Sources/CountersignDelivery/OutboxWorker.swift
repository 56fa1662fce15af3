public import CountersignCore
import CountersignWire
public import Logging

/// How an attempt to deliver ended.
package enum DeliveryResult: Sendable {
    /// The receiver has it.
    case delivered
    /// It did not arrive; why, in words without secrets.
    case failed(String)
}

/// Empties the outbox: leases what is due, delivers it, and notes what came of it.
public struct OutboxWorker: Sendable {
    /// How many loops lease and deliver beside each other: a slow receiver holds up one of them.
    private static let loops = 4
    /// How many messages a loop has on their way at once.
    private static let batch = 16
    /// How long a lease lasts, in seconds: longer than any attempt.
    package static let lease: Int64 = 60
    /// The pause after the first failure and the longest one, in seconds.
    private static let pauses: (first: Int64, longest: Int64) = (2, 3600)

    private let queue: any OutboxQueue
    private let wakes: any Wakes
    private let time: any TimeSource
    private let random: any RandomSource
    private let callbacks: CallbackSender
    private let counts: DeliveryCounts
    private let logger: Logger

    /// A worker on a queue.
    public init(
        queue: any OutboxQueue, wakes: any Wakes, time: any TimeSource, random: any RandomSource,
        callbacks: CallbackSender, counts: DeliveryCounts = DeliveryCounts(), logger: Logger
    ) {
        self.queue = queue
        self.wakes = wakes
        self.time = time
        self.random = random
        self.callbacks = callbacks
        self.counts = counts
        self.logger = logger
    }

    /// Delivers until the task is cancelled; what is under way then is tried again after the next start.
    public func run() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<Self.loops { group.addTask { try await loop() } }
            try await group.waitForAll()
        }
    }

    private func loop() async throws {
        // Subscribed once, before the first look: a message queued in between wakes the next wait.
        let subscription = wakes.subscribe(to: .outbox)
        while !Task.isCancelled {
            do {
                let next = try await queue.nextDue() ?? time.now.adding(seconds: 60)
                if next > time.now {
                    try await subscription.wait(until: next)
                } else {
                    try await deliverDue()
                }
            } catch let error as StoreError {
                logger.error("outbox cannot be read", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Delivers one batch of what is due.
    package func deliverDue() async throws {
        let now = time.now
        let batch = try await queue.lease(
            limit: Self.batch, now: now, until: now.adding(seconds: Self.lease))
        await withTaskGroup { group in
            for leased in batch { group.addTask { await attempt(leased) } }
        }
    }

    private func attempt(_ leased: LeasedMessage) async {
        let message = leased.message
        let result: DeliveryResult
        switch message.content {
        case .callback where time.now >= message.expiresAt:
            result = .failed("its time was over before it could be sent")
        case .callback(let uri, let client, let body):
            result = await callbacks.send(body, to: uri, of: client, id: message.id, secrets: queue, at: time.now)
        }
        do {
            switch result {
            case .delivered:
                try await queue.delivered(message.id, at: time.now)
                counts.note(.delivered)
            case .failed where Task.isCancelled:
                // Cut off by the stop, which is nobody's failure: the lease stays, and the next start ends it.
                return
            case .failed(let error):
                let retryAt = retry(of: message, after: leased.attempts)
                try await queue.failed(message.id, error: error, retryAt: retryAt)
                counts.note(retryAt == nil ? .abandoned : .failed)
                logger.notice(
                    "delivery failed",
                    metadata: [
                        "message": "\(message.id)", "error": "\(error)", "attempts": "\(leased.attempts + 1)",
                        "retry_at": "\(retryAt.map { "\($0)" } ?? "never")",
                    ])
            }
        } catch {
            // The lease runs out and the message is tried again: at least once is what the outbox promises.
            logger.error("delivery could not be noted", metadata: ["message": "\(message.id)", "error": "\(error)"])
        }
    }

    /// When to try again: twice as long after each failure, give or take a quarter, and never past the end.
    private func retry(of message: OutboxMessage, after attempts: Int) -> Timestamp? {
        let doubled = Self.pauses.first << Int64(min(attempts, 20))
        let pause = min(doubled, Self.pauses.longest) * 1000
        let jitter = Int64(random.bytes(2).reduce(0) { $0 << 8 | Int($1) }) * pause / 2 / 65536 - pause / 4
        let retryAt = Timestamp(milliseconds: time.now.milliseconds + pause + jitter)
        return retryAt < message.expiresAt ? retryAt : nil
    }
}
