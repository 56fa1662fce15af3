import CountersignCore
package import CountersignWire
import Synchronization

/// A clock that changes only when a test changes it.
package final class ScriptedTime: TimeSource {
    private let present: Mutex<Timestamp>

    /// Creates a clock with a time; 2026-11-20T10:15:02Z by default.
    package init(_ start: Timestamp = Timestamp(seconds: 1_795_169_702)) {
        present = Mutex(start)
    }

    package var now: Timestamp { present.withLock { $0 } }

    package func advance(_ length: Seconds) { advance(seconds: length.value) }

    /// Advances the clock by seconds; a negative number sets it back.
    package func advance(seconds: Int64) {
        advance(milliseconds: seconds * 1000)
    }

    /// Advances the clock by milliseconds; a negative number sets it back.
    package func advance(milliseconds: Int64) {
        present.withLock { $0 = Timestamp(milliseconds: $0.milliseconds + milliseconds) }
    }

    package func set(_ time: Timestamp) {
        present.withLock { $0 = time }
    }
}
