public import CountersignCore
import CountersignWire
import Logging

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
    private let ports: Ports
    private let callbacks: CallbackSender
    private let pushes: PushSender
    private let counts: DeliveryCounts

    /// A worker on a queue.
    public init(
        queue: any OutboxQueue, ports: Ports, callbacks: CallbackSender, pushes: PushSender,
        counts: DeliveryCounts = DeliveryCounts()
    ) {
        self.queue = queue
        self.ports = ports
        self.callbacks = callbacks
        self.pushes = pushes
        self.counts = counts
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
        let subscription = ports.wakes.subscribe(to: .outbox)
        while !Task.isCancelled {
            do {
                let next = try await queue.nextDue() ?? ports.time.now.adding(seconds: 60)
                if next > ports.time.now {
                    try await subscription.wait(until: next)
                } else {
                    try await deliverDue()
                }
            } catch let error as StoreError {
                ports.logger.error("outbox cannot be read", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Delivers one batch of what is due.
    package func deliverDue() async throws {
        let now = ports.time.now
        let batch = try await queue.lease(
            limit: Self.batch, now: now, until: now.adding(seconds: Self.lease))
        await withTaskGroup { group in
            for leased in batch { group.addTask { await attempt(leased) } }
        }
    }

    private func attempt(_ leased: LeasedMessage) async {
        let message = leased.message
        let result = await send(message)
        // Cut off by the stop, which is nobody's failure: the lease stays, and the next start ends it.
        if case .failed = result, Task.isCancelled { return }
        let outcome = outcome(of: result, message, after: leased.attempts)
        do {
            try await queue.conclude(message, as: outcome, at: ports.time.now)
        } catch {
            // The lease runs out and the message is tried again: at least once is what the outbox promises.
            ports.logger.error(
                "delivery could not be noted", metadata: ["message": "\(message.id)", "error": "\(error)"])
            return
        }
        switch outcome {
        case .delivered: counts.note(.delivered)
        case .retried(let error, let retryAt): tell(error, of: leased, .failed, retryAt: "\(retryAt)")
        case .abandoned(let error), .unregistered(let error, _):
            tell(error, of: leased, .abandoned, retryAt: "never")
        }
    }

    private func tell(_ error: String, of leased: LeasedMessage, _ count: DeliveryCounts.Outcome, retryAt: String) {
        counts.note(count)
        ports.logger.notice(
            "delivery failed",
            metadata: [
                "message": "\(leased.message.id)", "error": "\(error)", "attempts": "\(leased.attempts + 1)",
                "retry_at": "\(retryAt)",
            ])
    }

    private func send(_ message: OutboxMessage) async -> DeliveryResult {
        let now = ports.time.now
        guard now < message.expiresAt else { return .refused("its time was over before it could be sent") }
        switch message.content {
        case .callback(let uri, let client, let body):
            return await callbacks.send(body, to: uri, of: client, id: message.id, secrets: queue, at: now)
        case .push(let challenge, let enrollment, _):
            return await pushes.send(challenge, to: enrollment, as: message.id, ports: ports)
        }
    }

    private func outcome(
        of result: DeliveryResult, _ message: OutboxMessage, after attempts: Int
    ) -> DeliveryOutcome {
        switch result {
        case .delivered: .delivered
        case .refused(let reason): .abandoned(reason)
        case .unregistered(let reason, let target): .unregistered(reason, target)
        case .failed(let error, let notBefore):
            retry(of: message, after: attempts, notBefore: notBefore).map { .retried(error, at: $0) }
                ?? .abandoned(error)
        }
    }

    /// When to try again: twice as long after each failure, give or take a quarter, not before the receiver said, and
    /// never past the end.
    private func retry(of message: OutboxMessage, after attempts: Int, notBefore: Timestamp?) -> Timestamp? {
        let doubled = Self.pauses.first << Int64(min(attempts, 20))
        let pause = min(doubled, Self.pauses.longest) * 1000
        let jitter = Int64(ports.random.bytes(2).reduce(0) { $0 << 8 | Int($1) }) * pause / 2 / 65536 - pause / 4
        let retryAt = max(
            Timestamp(milliseconds: ports.time.now.milliseconds + pause + jitter), notBefore ?? ports.time.now)
        return retryAt < message.expiresAt ? retryAt : nil
    }
}
