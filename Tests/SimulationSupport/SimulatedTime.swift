import CountersignCore
import CountersignWire
import Synchronization

/// What a machine of a simulated world believes the present to be: off by something, going wrong by something, and set
/// now and then.
final class SimulatedTime: TimeSource {
    /// When every world begins: 2026-11-20T10:15:02Z.
    static let beginning = Timestamp(seconds: 1_795_169_702)

    private let scheduler: Scheduler
    private let offset: Mutex<Int64>
    private let drift: Int64

    /// A clock.
    ///
    /// - Parameters:
    ///   - scheduler: who has the right time.
    ///   - offset: how far it is ahead at first, in milliseconds.
    ///   - drift: how much it gains, in millionths.
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

    /// Sets the clock ahead by milliseconds, back where they are negative.
    func step(milliseconds: Int64) { offset.withLock { $0 += milliseconds } }
}

extension Duration {
    /// In whole milliseconds.
    var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
