import CountersignCore
import CountersignWire
import Synchronization

/// Ends waits before their time: those of one connection whose caller has hung up, or all when the server stops.
///
/// It does without tasks: each would take a kilobyte and more for as long as the wait lasts.
final class Interrupter: Sendable {
    private struct State {
        var isOver = false
        var waiting: [ObjectIdentifier: any WakeSubscription] = [:]
    }

    private let state = Mutex(State())

    /// Whether waits are over for good.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Ends the waits that are under way, and all that would begin.
    func interrupt() {
        let waiting = state.withLock { state in
            state.isOver = true
            return Array(state.waiting.values)
        }
        for subscription in waiting { subscription.interrupt() }
    }

    fileprivate func add(_ subscription: any WakeSubscription, for owner: AnyObject) {
        let isOver = state.withLock { state in
            state.waiting[ObjectIdentifier(owner)] = subscription
            return state.isOver
        }
        if isOver { subscription.interrupt() }
    }

    fileprivate func remove(_ owner: ObjectIdentifier) {
        state.withLock { $0.waiting[owner] = nil }
    }
}

/// Wakes whose waits can be interrupted.
struct InterruptibleWakes: Wakes {
    let wakes: any Wakes
    let interrupters: [Interrupter]

    func subscribe(to topic: WakeTopic) -> any WakeSubscription {
        InterruptibleSubscription(wakes.subscribe(to: topic), interrupters)
    }
}

private final class InterruptibleSubscription: WakeSubscription {
    private let subscription: any WakeSubscription
    private let interrupters: [Interrupter]

    init(_ subscription: any WakeSubscription, _ interrupters: [Interrupter]) {
        self.subscription = subscription
        self.interrupters = interrupters
        for interrupter in interrupters { interrupter.add(subscription, for: self) }
    }

    deinit {
        for interrupter in interrupters { interrupter.remove(ObjectIdentifier(self)) }
    }

    func wait(until deadline: Timestamp) async throws { try await subscription.wait(until: deadline) }

    func interrupt() { subscription.interrupt() }
}
