package import CountersignCore
import CountersignWire
import Synchronization

/// Notifies waiting tasks within one process, and ends their waits at their deadlines.
package final class ChangeHub: ChangeNotifier, Sendable {
    /// The interval at which deadlines are checked, in milliseconds; a wait can end this much too late.
    ///
    /// With 100, this was the larger part of what an idle server took of a processor.
    private static let tick: Int64 = 250

    private struct Listeners {
        var byTopic: [ChangeTopic: [Int: Listener]] = [:]
        /// Those that wait, by the tick of their deadline: ten thousand that wait for a minute are not looked at each
        /// tick.
        var byTick: [Int64: [Int: Listener]] = [:]
        var next = 0
    }

    private let listeners = Mutex(Listeners())
    private let time: any TimeSource
    private let clock: any Clock<Duration>

    /// Creates a hub.
    ///
    /// - Parameters:
    ///   - time: the source of time for deadlines.
    ///   - clock: the clock for the pauses between checks of deadlines.
    package init(time: any TimeSource, clock: any Clock<Duration> = ContinuousClock()) {
        self.time = time
        self.clock = clock
    }

    /// Subscribes to a topic; see ``ChangeNotifier/subscribe(to:)``.
    package func subscribe(to topic: ChangeTopic) -> any ChangeSubscription {
        let listener = Listener()
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.byTopic[topic, default: [:]][listeners.next] = listener
            return listeners.next
        }
        return Subscription(listener, number, of: topic, in: self)
    }

    /// The number of current subscriptions.
    package var listenerCount: Int {
        listeners.withLock { $0.byTopic.values.reduce(0) { $0 + $1.count } }
    }

    /// Notifies all subscribers of some topics.
    package func notify(_ topics: [ChangeTopic]) {
        let notified = listeners.withLock { listeners in
            topics.flatMap { listeners.byTopic[$0].map { Array($0.values) } ?? [] }
        }
        for listener in notified { listener.notify() }
    }

    /// Notifies all subscribers, for when it is unknown what has changed.
    package func notifyAll() {
        let all = listeners.withLock { $0.byTopic.values.flatMap(\.values) }
        for listener in all { listener.notify() }
    }

    /// Ends each wait whose deadline has passed; runs until the task is cancelled.
    package func run() async throws {
        while true {
            try await clock.sleep(for: .milliseconds(Self.tick))
            let now = time.now
            let tick = Self.tick(of: now)
            let due = listeners.withLock { $0.byTick.filter { $0.key <= tick }.values.flatMap(\.values) }
            for listener in due { listener.end(by: now) }
        }
    }

    private static func tick(of time: Timestamp) -> Int64 {
        time.milliseconds / tick
    }

    private func drop(_ topic: ChangeTopic, _ number: Int) {
        listeners.withLock { $0.byTopic.remove(number, of: topic) }
    }

    private func note(_ listener: Listener, _ number: Int, until deadline: Timestamp) {
        listeners.withLock { $0.byTick[Self.tick(of: deadline), default: [:]][number] = listener }
    }

    private func forget(_ number: Int, until deadline: Timestamp) {
        listeners.withLock { $0.byTick.remove(number, of: Self.tick(of: deadline)) }
    }

    private final class Subscription: ChangeSubscription {
        private let listener: Listener
        private let number: Int
        private let topic: ChangeTopic
        private let hub: ChangeHub

        init(_ listener: Listener, _ number: Int, of topic: ChangeTopic, in hub: ChangeHub) {
            self.listener = listener
            self.number = number
            self.topic = topic
            self.hub = hub
        }

        deinit { hub.drop(topic, number) }

        func wait(until deadline: Timestamp) async throws {
            hub.note(listener, number, until: deadline)
            defer { hub.forget(number, until: deadline) }
            try await listener.wait(until: deadline)
        }

        func interrupt() { listener.interrupt() }
    }
}

extension Dictionary where Value == [Int: Listener] {
    /// Removes a listener, and the key with its last one.
    fileprivate mutating func remove(_ number: Int, of key: Key) {
        self[key]?[number] = nil
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}

/// The state of one subscription.
private final class Listener: Sendable {
    private enum State {
        case idle
        /// A notification arrived while no task was waiting; the next wait returns at once.
        case notified
        case waiting(CheckedContinuation<Void, any Error>, until: Timestamp)
        /// The subscription was interrupted; every wait throws.
        case interrupted
    }

    private let state = Mutex(State.idle)

    func notify() {
        state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .waiting(let continuation, _):
                state = .idle
                return continuation
            case .idle, .notified:
                state = .notified
                return nil
            case .interrupted: return nil
            }
        }?.resume()
    }

    func end(by now: Timestamp) {
        state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard case .waiting(let continuation, let deadline) = state, deadline <= now else { return nil }
            state = .idle
            return continuation
        }?.resume()
    }

    func wait(until deadline: Timestamp) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    switch state {
                    case .notified:
                        state = .idle
                        return .success(())
                    case .interrupted: return .failure(CancellationError())
                    case .idle, .waiting:
                        state = .waiting(continuation, until: deadline)
                        return nil
                    }
                }
                if let result { continuation.resume(with: result) } else if Task.isCancelled { cancel() }
            }
        } onCancel: {
            cancel()
        }
    }

    func interrupt() { cancel(forEver: true) }

    private func cancel(forEver: Bool = false) {
        state.withLock { state -> CheckedContinuation<Void, any Error>? in
            let before = state
            if forEver { state = .interrupted }
            guard case .waiting(let continuation, _) = before else { return nil }
            if !forEver { state = .idle }
            return continuation
        }?.resume(throwing: CancellationError())
    }
}
