public import CountersignCore
import CountersignWire
import Logging
import Synchronization

/// Empties the outbox: leases what is due, delivers it, and notes what came of it.
public struct OutboxWorker: Sendable {
    /// How many messages of a kind are on their way at once.
    ///
    /// A receiver that does not answer holds up no more than these, and none of another kind. Each mail takes a thread.
    private static func window(of kind: OutboxMessage.Kind) -> Int {
        switch kind {
        case .callback, .push, .text: 64
        case .mail: SMTPSender.atOnce
        }
    }
    /// How long a lease lasts, in seconds: longer than any attempt.
    package static let lease: Int64 = 60
    /// The pause after the first failure and the longest one, in seconds.
    private static let pauses: (first: Int64, longest: Int64) = (2, 3600)

    private let queue: any OutboxQueue
    private let ports: Ports
    private let callbacks: CallbackSender
    private let pushes: PushSender
    private let messages: MessageSender?
    private let counts: DeliveryCounts
    private let accesses: Batcher<CallbackReceiver, CallbackAccess?>
    private let facts: Batcher<AnnounceChallenge.Subject, AnnounceChallenge.Facts?>
    private let conclusions: Batcher<EndedAttempt, Settlement?>

    /// A worker on a queue.
    public init(
        queue: any OutboxQueue, ports: Ports, callbacks: CallbackSender, pushes: PushSender,
        messages: MessageSender? = nil, counts: DeliveryCounts = DeliveryCounts()
    ) {
        self.queue = queue
        self.ports = ports
        self.callbacks = callbacks
        self.pushes = pushes
        self.messages = messages
        self.counts = counts
        accesses = Batcher { receivers in
            let found = try await queue.callbackAccess(to: Set(receivers), at: ports.time.now)
            return receivers.map { found[$0] }
        }
        facts = Batcher { try await AnnounceChallenge.facts(of: $0, ports: ports) }
        conclusions = Batcher { attempts in
            let settled = try await queue.conclude(attempts, at: ports.time.now)
            return attempts.map { settled[$0.message.id] }
        }
    }

    /// Delivers until the task is cancelled; what is under way then is tried again after the next start.
    public func run() async throws {
        try await withThrowingTaskGroup { group in
            for kind in OutboxMessage.Kind.allCases { group.addTask { try await loop(kind) } }
            try await group.waitForAll()
        }
    }

    private func loop(_ kind: OutboxMessage.Kind) async throws {
        // Subscribed once, before the first look: a message queued in between wakes the next wait.
        let subscription = ports.wakes.subscribe(to: .outbox)
        let window = Self.window(of: kind)
        // As many again are taken ahead, so that the next ones are at hand while others are fetched: they wait no longer
        // than an attempt may take, which with their own is less than a lease. A mail may take half of one.
        let places = Places(kind == .mail ? window : window * 2)
        let gate = Gate(window)
        // To take some costs a commit: so many must have ended before others are taken.
        let least = kind == .mail ? 1 : window / 4
        // There may be more that is due when as many were taken as might be.
        var isMoreDue = false
        try await withThrowingDiscardingTaskGroup { underWay in
            while !Task.isCancelled {
                let free = await places.free(atLeast: least)
                do {
                    if !isMoreDue {
                        let next = try await queue.nextDue(kind) ?? ports.time.now.adding(seconds: 60)
                        guard next <= ports.time.now else {
                            try await subscription.wait(until: next)
                            continue
                        }
                    }
                    let taken = try await lease(kind, limit: free)
                    isMoreDue = taken.count == free
                    for leased in taken {
                        places.take()
                        underWay.addTask {
                            await gate.pass { await attempt(leased) }
                            places.give()
                        }
                    }
                } catch let error as StoreError {
                    ports.logger.error("outbox cannot be read", metadata: ["error": "\(error)"])
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    /// Takes what is due.
    package func lease(_ kind: OutboxMessage.Kind, limit: Int) async throws -> [LeasedMessage] {
        let now = ports.time.now
        return try await queue.lease(kind, limit: limit, now: now, until: now.adding(seconds: Self.lease))
    }

    /// Tries to deliver a message, and notes what came of it.
    package func attempt(_ leased: LeasedMessage) async {
        let message = leased.message
        let result = await send(message)
        // Cut off by the stop, which is nobody's failure: the lease stays, and the next start ends it.
        if case .failed = result, Task.isCancelled { return }
        let outcome = outcome(of: result, message, after: leased.attempts)
        let settlement: Settlement?
        do {
            settlement = try await conclusions.perform(EndedAttempt(message, as: outcome))
        } catch {
            // The lease runs out and the message is tried again: at least once is what the outbox promises.
            ports.logger.error(
                "delivery could not be noted", metadata: ["message": "\(message.id)", "error": "\(error)"])
            return
        }
        switch settlement {
        case .delivered: counts.note(.delivered, of: message.content.kind)
        case .retried(let error, let retryAt): tell(error, of: leased, .failed, retryAt: "\(retryAt)")
        case .abandoned(let error): tell(error, of: leased, .abandoned, retryAt: "never")
        case nil: break
        }
    }

    private func tell(_ error: String, of leased: LeasedMessage, _ count: DeliveryCounts.Outcome, retryAt: String) {
        counts.note(count, of: leased.message.content.kind)
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
            return await callbacks.send(body, to: uri, id: message.id, at: now) {
                try await accesses.perform(CallbackReceiver(of: client, at: uri))
            }
        case .push(let challenge, let enrollment, _):
            return await pushes.send(of: challenge, as: message.id) {
                guard let facts = try await facts.perform(.init(challenge, to: enrollment)) else { return nil }
                return try await AnnounceChallenge.prepare(facts, ports: ports)
            }
        case .withdrawal(let challenge, let enrollment, _):
            return await pushes.send(of: challenge, as: message.id) {
                try await AnnounceChallenge.prepareWithdrawal(
                    of: challenge, from: enrollment, until: message.expiresAt, ports: ports)
            }
        case .personal(let content, let address, _):
            guard let messages else { return .refused("messages to people are not set up") }
            return await messages.send(content, to: address, as: message.id, at: now)
        }
    }

    private func outcome(
        of result: DeliveryResult, _ message: OutboxMessage, after attempts: Int
    ) -> DeliveryOutcome {
        switch result {
        case .delivered: .delivered
        case .recovered: .recovered
        case .refused(let reason): .abandoned(reason)
        case .unregistered(let reason, let target): .unregistered(reason, target)
        case .gone(let error): .gone(error, retryAt: retry(of: message, after: attempts, notBefore: nil))
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

/// How many more messages may be on their way; one at a time waits for places.
private final class Places: Sendable {
    private struct State {
        var free: Int
        var waiting: (least: Int, continuation: CheckedContinuation<Int, Never>)?
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func take() { state.withLock { $0.free -= 1 } }

    func give() {
        let ready = state.withLock { state -> (CheckedContinuation<Int, Never>, Int)? in
            state.free += 1
            guard let waiting = state.waiting, state.free >= waiting.least else { return nil }
            state.waiting = nil
            return (waiting.continuation, state.free)
        }
        ready?.0.resume(returning: ready?.1 ?? 0)
    }

    /// How many places are free, as soon as there are so many.
    ///
    /// Who is on the way ends in time, so this does, too.
    func free(atLeast least: Int) async -> Int {
        await withCheckedContinuation { continuation in
            let free = state.withLock { state -> Int? in
                guard state.free < least else { return state.free }
                state.waiting = (least, continuation)
                return nil
            }
            if let free { continuation.resume(returning: free) }
        }
    }
}

/// Lets so many through at a time; the others wait in the order in which they came.
private final class Gate: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func pass(_ body: () async -> Void) async {
        await enter()
        await body()
        leave()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
