public import CountersignCore
public import CountersignWire
import Foundation
import Synchronization

/// The machine's clock, moved by as much as a test likes.
public final class TestClock: TimeSource {
    private let offset = Mutex<Int64>(0)

    /// A clock that shows the machine's time.
    public init() {}

    /// The present, moved.
    public var now: Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + offset.withLock { $0 })
    }

    /// Moves the clock on by this many seconds.
    public func advance(seconds: Int64) {
        offset.withLock { $0 += seconds * 1000 }
    }
}
