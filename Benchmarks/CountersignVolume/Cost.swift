import BenchmarkSupport
import Foundation

/// What cycles cost.
struct Cost {
    /// How many they were.
    var cycles = 0
    /// Seconds of the processor, in this process and in those of the database.
    var processor = 0.0
    /// Seconds that passed.
    var elapsed = 0.0

    static func + (left: Cost, right: Cost) -> Cost {
        Cost(
            cycles: left.cycles + right.cycles, processor: left.processor + right.processor,
            elapsed: left.elapsed + right.elapsed)
    }

    /// For people.
    var text: String {
        String(
            format: "%.3f ms of the processor, %.3f ms in all", processor / Double(cycles) * 1000,
            elapsed / Double(cycles) * 1000)
    }

    /// The processor time used so far by this process and by those of the database.
    static func processorTime() -> Double {
        let own = Double(clock()) / Double(CLOCKS_PER_SEC)
        let id = ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_POSTGRES_PROCESS"].flatMap { Int32($0) }
        return own + (id.map { MeasuredProcess(id: $0).processorTimeWithChildren } ?? 0)
    }
}
