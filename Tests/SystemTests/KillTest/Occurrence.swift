import Synchronization

/// Something that happens once, which any number of tasks can await.
final class Occurrence: Sendable {
    private enum State {
        case awaited([CheckedContinuation<Void, Never>])
        case happened
    }

    private let state = Mutex(State.awaited([]))

    /// Whether it has happened.
    var hasHappened: Bool {
        state.withLock { if case .happened = $0 { true } else { false } }
    }

    /// It happens now.
    func happen() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state = .happened }
            if case .awaited(let waiting) = state { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when it has happened, whether or not the task is cancelled.
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
