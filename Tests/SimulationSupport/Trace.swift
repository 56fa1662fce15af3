/// What has happened in a simulated world, in words, and a hash of all of it: the same seed gives the same.
///
/// Decisions, ids, times and outcomes; never what is sealed or signed, since keys are as random as ever.
package final class Trace {
    private static let kept = 4000

    private let scheduler: Scheduler
    /// FNV-1a over the lines.
    package private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// How many lines there were.
    package private(set) var count = 0
    /// The latest ones.
    package private(set) var lines: [String] = []

    init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    /// Somebody did something.
    package func note(_ who: String, _ what: String) {
        let line = "\(scheduler.elapsed.milliseconds) \(who): \(what)"
        for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        count += 1
        lines.append(line)
        if lines.count > 2 * Self.kept { lines.removeFirst(Self.kept) }
    }
}
