import CountersignCore
package import CountersignWire
import Foundation
import Synchronization

/// The system clock with an offset that a test sets.
package final class TestClock: TimeSource {
    private struct State {
        var offset: Int64 = 0
        var stoppedAt: Int64?
    }

    private let state = Mutex(State())

    package init() {}

    /// The system time plus the offset.
    package var now: Timestamp {
        state.withLock { Timestamp(milliseconds: ($0.stoppedAt ?? Self.machineTime) + $0.offset) }
    }

    private static var machineTime: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    package func advance(_ length: Seconds) { advance(seconds: length.value) }

    package func advance(seconds: Int64) {
        state.withLock { $0.offset += seconds * 1000 }
    }

    /// Stops the clock while a body runs.
    ///
    /// - Parameter body: the body, which gets the second at which the clock is stopped.
    package func stopped<Result>(_ body: (Int64) async throws -> Result) async throws -> Result {
        state.withLock { $0.stoppedAt = Self.machineTime }
        defer { state.withLock { $0.stoppedAt = nil } }
        return try await body(now.seconds)
    }
}
