import Synchronization

/// Lets a line into the log once a second, where each of a thousand requests would add one.
final class OncePerSecond: Sendable {
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    /// Whether a line is due.
    func isDue(at now: ContinuousClock.Instant) -> Bool {
        last.withLock { last in
            if let last, now - last < .seconds(1) { return false }
            last = now
            return true
        }
    }
}
