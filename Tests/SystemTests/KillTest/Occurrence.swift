import Synchronization

/// An event that happens once, which any number of tasks can await.
final class Occurrence: Sendable {
    private enum State {
        case awaited([CheckedContinuation<Void, Never>])
        case happened
    }

    private let state = Mutex(State.awaited([]))

    var hasHappened: Bool {
        state.withLock { if case .happened = $0 { true } else { false } }
    }

    /// Marks the event as happened.
    func happen() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state = .happened }
            if case .awaited(let waiting) = state { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when the event has happened; cancellation of the task has no effect.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state -> Bool in
                guard case .awaited(let waiting) = state else { return true }
                state = .awaited(waiting + [continuation])
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
