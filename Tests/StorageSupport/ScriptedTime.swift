import CountersignCore
package import CountersignWire
import Synchronization

/// A clock that shows what a test says and never moves by itself.
package final class ScriptedTime: TimeSource {
    private let present: Mutex<Timestamp>

    /// A clock that stands at a time: 2026-11-20T10:15:02Z unless a test says otherwise.
    package init(_ start: Timestamp = Timestamp(seconds: 1_795_169_702)) {
        present = Mutex(start)
    }

    /// What the clock shows.
    package var now: Timestamp { present.withLock { $0 } }

    /// Moves the clock by this many seconds, back when they are negative.
    package func advance(seconds: Int64) {
        advance(milliseconds: seconds * 1000)
    }

    /// Moves the clock by this many milliseconds.
    package func advance(milliseconds: Int64) {
        present.withLock { $0 = Timestamp(milliseconds: $0.milliseconds + milliseconds) }
    }

    /// Sets the clock.
    package func set(_ time: Timestamp) {
        present.withLock { $0 = time }
    }
}
