/// A readable trace of a simulation, and its hash: the same seed gives the same trace.
///
/// It contains decisions, ids, times and outcomes. It contains nothing that is sealed or signed, because keys are
/// really random.
package final class Trace {
    private static let kept = 4000

    private let scheduler: Scheduler
    /// FNV-1a over all lines.
    package private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The number of all lines.
    package private(set) var count = 0
    /// The latest lines.
    package private(set) var lines: [String] = []

    init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    /// Adds what a party did.
    package func note(_ who: String, _ what: String) {
        let line = "\(scheduler.elapsed.milliseconds) \(who): \(what)"
        for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        count += 1
        lines.append(line)
        if lines.count > 2 * Self.kept { lines.removeFirst(Self.kept) }
    }
}
