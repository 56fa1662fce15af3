import CountersignCore
package import CountersignWire
import Foundation
import Synchronization

/// The machine's clock, moved by as much as a test likes.
package final class TestClock: TimeSource {
    private struct State {
        var offset: Int64 = 0
        var stoppedAt: Int64?
    }

    private let state = Mutex(State())

    /// A clock that shows the machine's time.
    package init() {}

    /// The present, moved.
    package var now: Timestamp {
        state.withLock { Timestamp(milliseconds: ($0.stoppedAt ?? Self.machineTime) + $0.offset) }
    }

    private static var machineTime: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// Moves the clock on by this many seconds.
    package func advance(seconds: Int64) {
        state.withLock { $0.offset += seconds * 1000 }
    }

    /// Stands still while something is done, however long that takes.
    ///
    /// - Parameter body: what is done, given the second at which the clock stands.
    package func stopped<Result>(_ body: (Int64) async throws -> Result) async throws -> Result {
        state.withLock { $0.stoppedAt = Self.machineTime }
        defer { state.withLock { $0.stoppedAt = nil } }
        return try await body(now.seconds)
    }
}
