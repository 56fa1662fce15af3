import BenchmarkSupport
import Foundation

/// The cost of some cycles.
struct Cost {
    /// The number of cycles.
    var cycles = 0
    /// The processor time of this process and of the database's processes, in seconds.
    var processor = 0.0
    /// The elapsed time, in seconds.
    var elapsed = 0.0

    static func + (left: Cost, right: Cost) -> Cost {
        Cost(
            cycles: left.cycles + right.cycles, processor: left.processor + right.processor,
            elapsed: left.elapsed + right.elapsed)
    }

    var text: String {
        String(
            format: "%.3f ms of the processor, %.3f ms in all", processor / Double(cycles) * 1000,
            elapsed / Double(cycles) * 1000)
    }

    /// The processor time used so far by this process and by the database's processes, in seconds.
    static func processorTime() -> Double {
        let own = Double(clock()) / Double(CLOCKS_PER_SEC)
        let id = ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_POSTGRES_PROCESS"].flatMap { Int32($0) }
        return own + (id.map { MeasuredProcess(id: $0).processorTimeWithChildren } ?? 0)
    }
}
