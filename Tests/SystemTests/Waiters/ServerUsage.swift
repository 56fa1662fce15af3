import Foundation
import Testing

/// What a process takes of the machine, from `/proc`.
struct ServerUsage {
    /// How long nothing must happen for a server to be idle.
    private static let pause = Duration.milliseconds(500)

    let process: Int32

    /// Its memory in bytes: what the system keeps for it now.
    var memory: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
            return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }) * 1024
        }
    }

    /// The processor time it has used, in seconds.
    var processorTime: Double {
        get throws {
            let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            // The name in parentheses may hold blanks; the times are the 12th and 13th field after it.
            let fields = try #require(stat.split(separator: ")").last).split(separator: " ")
            let ticks = fields[11...12].compactMap { Double($0) }.reduce(0, +)
            return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    /// Returns when the server has used no processor time for a while: whatever was sent to it is done.
    func idle() async throws {
        var last = -1.0
        var now = try processorTime
        while now > last + 0.02 {
            last = now
            // Nothing tells from outside that a server is at rest; it is looked at.
            try await Task.sleep(for: Self.pause)
            now = try processorTime
        }
    }
}
