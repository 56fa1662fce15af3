import CountersignCore
import CountersignWire
import Synchronization

/// Cancels waits early: those of one connection when its caller hangs up, or all waits when the server stops.
///
/// It uses no tasks, because each would take more than a kilobyte for as long as the wait lasts.
final class WaitCanceller: Sendable {
    private struct State {
        var isOver = false
        var waiting: [ObjectIdentifier: any ChangeSubscription] = [:]
    }

    private let state = Mutex(State())

    /// Whether waits are cancelled for good.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Cancels the current waits and every later one.
    func interrupt() {
        let waiting = state.withLock { state in
            state.isOver = true
            return Array(state.waiting.values)
        }
        for subscription in waiting { subscription.interrupt() }
    }

    fileprivate func add(_ subscription: any ChangeSubscription, for owner: AnyObject) {
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

/// A notifier whose waits can be interrupted.
struct CancellableChanges: ChangeNotifier {
    let changes: any ChangeNotifier
    let cancellers: [WaitCanceller]

    func subscribe(to topic: ChangeTopic) -> any ChangeSubscription {
        CancellableSubscription(changes.subscribe(to: topic), cancellers)
    }
}

private final class CancellableSubscription: ChangeSubscription {
    private let subscription: any ChangeSubscription
    private let cancellers: [WaitCanceller]

    init(_ subscription: any ChangeSubscription, _ cancellers: [WaitCanceller]) {
        self.subscription = subscription
        self.cancellers = cancellers
        for canceller in cancellers { canceller.add(subscription, for: self) }
    }

    deinit {
        for canceller in cancellers { canceller.remove(ObjectIdentifier(self)) }
    }

    func wait(until deadline: Timestamp) async throws { try await subscription.wait(until: deadline) }

    func interrupt() { subscription.interrupt() }
}
