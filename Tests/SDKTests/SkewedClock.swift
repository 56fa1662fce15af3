import Countersign
import CountersignWire
import ServerTestSupport
import Synchronization

/// A device's clock that is wrong by as much as a test likes.
final class SkewedClock: DeviceClock {
    private let server: TestClock
    private let skew: Mutex<Int64>

    /// A clock that is ahead of the server's by this many seconds.
    init(of server: TestClock, aheadBy seconds: Int64 = 0) {
        self.server = server
        skew = Mutex(seconds)
    }

    var millisecondsSince1970: Int64 { server.now.milliseconds + skew.withLock { $0 } * 1000 }

    /// Sets the clock: ahead of the server's by this many seconds.
    func set(aheadBy seconds: Int64) {
        skew.withLock { $0 = seconds }
    }
}
