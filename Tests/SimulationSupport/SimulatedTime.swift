import CountersignCore
import CountersignWire
import Synchronization

/// The clock of a simulated machine, which has an offset and a drift and is sometimes set.
final class SimulatedTime: TimeSource {
    /// When every simulation begins: 2026-11-20T10:15:02Z.
    static let beginning = Timestamp(seconds: 1_795_169_702)

    private let scheduler: Scheduler
    private let offset: Mutex<Int64>
    private let drift: Int64

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler with the right time.
    ///   - offset: how far the clock is ahead at first, in milliseconds.
    ///   - drift: how much the clock gains, in millionths.
    init(_ scheduler: Scheduler, offset: Int64 = 0, drift: Int64 = 0) {
        self.scheduler = scheduler
        self.offset = Mutex(offset)
        self.drift = drift
    }

    var now: Timestamp {
        let elapsed = scheduler.elapsed.milliseconds
        return Timestamp(
            milliseconds: Self.beginning.milliseconds + elapsed + elapsed * drift / 1_000_000 + offset.withLock { $0 })
    }

    /// Sets the clock ahead, or back if the number is negative.
    func step(milliseconds: Int64) { offset.withLock { $0 += milliseconds } }
}

extension Duration {
    var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
