import Synchronization

/// Counts from any thread.
final class Counter: Sendable {
    private let number = Mutex(0)

    /// How often it was counted.
    var value: Int { number.withLock { $0 } }

    /// Counts one more, and tells how many there are.
    @discardableResult
    func count() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}
