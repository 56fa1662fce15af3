package import CountersignCore
package import CountersignWire
import Logging
import Synchronization

/// Empties the outbox: leases due messages, delivers them, and records the results.
package struct OutboxWorker: Sendable {
    /// The maximum number of concurrent deliveries of a kind.
    ///
    /// A client's own server may take as long as an attempt may last, so one client gets only a share. The operator
    /// chose the other services. Each mail occupies a thread.
    private static func limits(of kind: OutboxMessage.Kind) -> OutboxLoad.Limits {
        switch kind {
        case .callback, .logout, .backchannel: OutboxLoad.Limits(total: 256, each: 64, slow: 4, leavesHalf: true)
        case .push, .text, .signIn: OutboxLoad.Limits(total: 64, each: 64, slow: 64, leavesHalf: false)
        case .mail:
            OutboxLoad.Limits(
                total: SMTPSender.atOnce, each: SMTPSender.atOnce, slow: SMTPSender.atOnce, leavesHalf: false)
        }
    }
    /// A receiver that takes longer than this gets fewer concurrent messages.
    private static let tooLong = Duration.seconds(5)
    /// Deliveries that end within this time are handled together.
    private static let pause = Duration.milliseconds(5)
    /// The duration of a lease; longer than any attempt.
    package static let lease = Seconds.minutes(1)
    /// The first and the longest pause between attempts.
    private static let pauses: (first: Seconds, longest: Seconds) = (2, .hours(1))

    private let queue: any OutboxQueue
    private let ports: Ports
    private let callbacks: CallbackSender
    private let logouts: LogoutSender
    private let backchannels: BackchannelSender
    private let pushes: PushSender
    private let messages: MessageSender?
    private let counts: DeliveryCounts
    private let accesses: Batcher<CallbackReceiver, CallbackAccess?>
    private let facts: Batcher<AnnounceChallenge.Subject, AnnounceChallenge.Facts?>
    private let conclusions: Batcher<EndedAttempt, Settlement?>

    package init(
        queue: any OutboxQueue, ports: Ports, callbacks: CallbackSender, pushes: PushSender,
        messages: MessageSender? = nil, counts: DeliveryCounts = DeliveryCounts()
    ) {
        self.queue = queue
        self.ports = ports
        self.callbacks = callbacks
        logouts = LogoutSender(callbacks)
        backchannels = BackchannelSender(callbacks)
        self.pushes = pushes
        self.messages = messages
        self.counts = counts
        accesses = Batcher { receivers in
            let found = try await queue.callbackAccess(to: Set(receivers), at: ports.time.now)
            return receivers.map { found[$0] }
        }
        facts = Batcher { try await AnnounceChallenge.facts(of: $0, ports: ports) }
        conclusions = Batcher { attempts in
            let settled = try await RecordDelivery.record(attempts, at: ports.time.now, ports: ports)
            return attempts.map { settled[$0.message.id] }
        }
    }

    /// Delivers until the task is cancelled; attempts that are cut off then are repeated by other nodes or after the
    /// next start.
    package func run() async throws {
        try await withThrowingTaskGroup { group in
            for kind in OutboxMessage.Kind.allCases { group.addTask { try await loop(kind) } }
            try await group.waitForAll()
        }
    }

    private func loop(_ kind: OutboxMessage.Kind) async throws {
        // Subscribed before the first query, so that a message queued in between ends the next wait.
        let subscription = ports.changes.subscribe(to: .outbox(kind))
        let underWay = UnderWay(Self.limits(of: kind))
        await withDiscardingTaskGroup { attempts in
            while !Task.isCancelled {
                do {
                    let now = ports.time.now
                    let taken = try await lease(kind, underWay.shares(of: try await queue.dueLanes(kind, at: now)))
                    for leased in taken {
                        underWay.begin(leased)
                        attempts.addTask { await attempt(leased, underWay) }
                    }
                    // More messages may be due than were counted.
                    guard taken.isEmpty else { continue }
                    let next = try await queue.nextDue(kind, after: now) ?? now.adding(.minutes(1))
                    await wait(for: subscription, until: next, or: underWay)
                } catch let error as StoreError {
                    ports.logger.error("outbox cannot be read", metadata: ["error": "\(error)"])
                    try? await ports.clock.sleep(for: .seconds(1))
                } catch {
                    // Cancelled: attempts in progress are cut off, and their leases are released below.
                    break
                }
            }
        }
        do {
            // Another node can then take the messages at once, before the leases expire.
            try await queue.release(underWay.cutOff, at: ports.time.now)
        } catch {
            ports.logger.error("leases cannot be given back", metadata: ["error": "\(error)"])
        }
    }

    /// Waits until a message is queued or due, or a delivery ends.
    private func wait(
        for subscription: any ChangeSubscription, until next: Timestamp, or underWay: UnderWay
    ) async {
        let hasEnded = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                try? await subscription.wait(until: next)
                return false
            }
            group.addTask {
                await underWay.end()
                return true
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        if hasEnded { try? await ports.clock.sleep(for: Self.pause) }
    }

    /// Leases due messages as if no deliveries were in progress.
    package func lease(_ kind: OutboxMessage.Kind) async throws -> [LeasedMessage] {
        let due = try await queue.dueLanes(kind, at: ports.time.now)
        return try await lease(kind, OutboxLoad(Self.limits(of: kind)).shares(of: due))
    }

    private func lease(_ kind: OutboxMessage.Kind, _ shares: [LaneShare]) async throws -> [LeasedMessage] {
        guard !shares.isEmpty else { return [] }
        let now = ports.time.now
        return try await queue.lease(kind, shares, now: now, until: now.adding(Self.lease))
    }

    private func attempt(_ leased: LeasedMessage, _ underWay: UnderWay) async {
        var isDone = false
        let time = await ports.clock.measure { isDone = await attempt(leased) }
        underWay.end(leased, tookTooLong: time > Self.tooLong, isCutOff: !isDone)
    }

    /// Tries to deliver a message, and records the result.
    ///
    /// - Returns: false when cancellation cut the attempt off.
    @discardableResult
    package func attempt(_ leased: LeasedMessage) async -> Bool {
        let message = leased.message
        let result = await send(message)
        // Cancellation is not a failure of the receiver; the lease is released.
        if case .failed = result, Task.isCancelled { return false }
        let outcome = outcome(of: result, message, after: leased.attempts)
        let settlement: Settlement?
        do {
            settlement = try await conclusions.perform(EndedAttempt(message, as: outcome, after: leased.attempts))
        } catch {
            // The lease expires and the message is sent again, because the outbox guarantees at least one delivery.
            ports.logger.error(
                "delivery could not be noted", metadata: ["message": "\(message.id)", "error": "\(error)"])
            return true
        }
        switch settlement {
        case .delivered: counts.note(.delivered, of: message.content.kind)
        case .retried(let error, let retryAt): tell(error, of: leased, .failed, retryAt: "\(retryAt)")
        case .abandoned(let error): tell(error, of: leased, .abandoned, retryAt: "never")
        case nil: break
        }
        return true
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
        guard now < message.expiresAt else { return .refused(EndedAttempt.tooLate) }
        switch message.content {
        case .callback(let uri, let client, let body), .notice(let uri, let client, let body),
            .hook(let uri, let client, let body):
            let purpose = message.content.posted?.purpose ?? .callbacks
            return await callbacks.send(body, to: uri, id: message.id, at: now) {
                try await accesses.perform(CallbackReceiver(of: client, at: uri))?.access(for: purpose, ports.hasher)
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
        case .logout(_, let client, let sid, let user):
            return await attempting {
                switch try await TellLogout.token(of: sid, user, for: client, ports: ports) {
                case .posted(let token, let uri): return await logouts.send(token, to: uri)
                // If the client is enabled again in time, it is still told.
                case .disabled: return .failed("the client is disabled")
                case .unwanted: return .refused("the client is no longer told of sessions")
                }
            }
        case .backchannel(_, let client, let authorization, let event):
            return await attempting {
                switch try await TellBackchannel.notification(of: authorization, event, to: client, ports: ports) {
                case .posted(let notification): return await backchannels.send(notification)
                // If the client is enabled again in time, it is still told.
                case .disabled: return .failed("the client is disabled")
                case .unwanted: return .refused("the client is told of nothing any more")
                case .nothing: return .delivered
                case .early(let end): return .failed("the request is not over", notBefore: end)
                }
            }
        case .signInCode(let authorization, let verification, _, _):
            guard let messages else { return .refused("messages to people are not set up") }
            return await attempting {
                guard let made = try await SignInCode.message(of: authorization, verification, ports: ports) else {
                    return .delivered
                }
                return await messages.send(made.message, to: made.address, as: message.id, at: now)
            }
        case .signIn(let authorization, let challenge, _):
            return await attempting {
                try await PutSignIn.put(authorization, by: challenge, ports: ports)
                return .delivered
            }
        }
    }

    /// The result of what needs the database first.
    private func attempting(_ send: () async throws -> DeliveryResult) async -> DeliveryResult {
        do {
            return try await send()
        } catch {
            ports.logger.error("a message cannot be made", metadata: ["error": "\(error)"])
            return .failed("the database cannot be used")
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

    /// The time of the next attempt; nil when it would be after the message's expiry.
    ///
    /// The pause doubles after each failure, varies by up to a quarter, and respects the receiver's `Retry-After`.
    private func retry(of message: OutboxMessage, after attempts: Int, notBefore: Timestamp?) -> Timestamp? {
        let doubled = (1 << Int64(min(attempts, 20))) * Self.pauses.first
        let pause = min(doubled, Self.pauses.longest).value * 1000
        let jitter = Int64(ports.random.bytes(2).reduce(0) { $0 << 8 | Int($1) }) * pause / 2 / 65536 - pause / 4
        let retryAt = max(
            Timestamp(milliseconds: ports.time.now.milliseconds + pause + jitter), notBefore ?? ports.time.now)
        return retryAt < message.expiresAt ? retryAt : nil
    }
}

/// The deliveries of one kind that are in progress.
private final class UnderWay: Sendable {
    private struct State {
        var load: OutboxLoad
        var hasEnded = false
        var waiting: CheckedContinuation<Void, Never>?
        var cutOff: [LeasedMessage] = []

        /// Returns the task that waits for an end; if there is none, the next wait returns at once.
        mutating func leave() -> CheckedContinuation<Void, Never>? {
            hasEnded = waiting == nil
            defer { waiting = nil }
            return waiting
        }
    }

    private let state: Mutex<State>

    init(_ limits: OutboxLoad.Limits) { state = Mutex(State(load: OutboxLoad(limits))) }

    /// The messages whose attempts cancellation cut off.
    var cutOff: [LeasedMessage] { state.withLock { $0.cutOff } }

    func shares(of due: [DueLane]) -> [LaneShare] { state.withLock { $0.load.shares(of: due) } }

    func begin(_ leased: LeasedMessage) { state.withLock { $0.load.begin(leased.lane) } }

    func end(_ leased: LeasedMessage, tookTooLong: Bool, isCutOff: Bool) {
        let waiting = state.withLock { state in
            state.load.end(leased.lane, tookTooLong: tookTooLong)
            if isCutOff { state.cutOff.append(leased) }
            return state.leave()
        }
        waiting?.resume()
    }

    /// Returns when a delivery has ended since the last call, or when the task is cancelled.
    func end() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.hasEnded, !Task.isCancelled else {
                        state.hasEnded = false
                        return true
                    }
                    state.waiting = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume()
        }
    }
}
