import Foundation

/// The figures of this process from `/proc`, which only Linux has.
struct ProcessNumbers {
    let processorSeconds: Double
    let residentBytes: Int
    let openFiles: Int
    let maximumFiles: Int
    let startedAt: Double

    /// The current figures; nil if there is no `/proc`.
    static var now: ProcessNumbers? {
        // See proc_pid_stat(5). The name in parentheses may contain spaces; the fields after it begin with field 3.
        guard let stat = read("/proc/self/stat"), let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[end...].split(separator: " ").dropFirst().map { Double($0) ?? 0 }
        guard fields.count > 21, let boot = bootTime else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        var limit = rlimit()
        #if canImport(Darwin)
            getrlimit(RLIMIT_NOFILE, &limit)
        #else
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #endif
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        return ProcessNumbers(
            processorSeconds: (fields[11] + fields[12]) / ticks,
            residentBytes: Int(fields[21]) * sysconf(Int32(_SC_PAGESIZE)), openFiles: files,
            maximumFiles: Int(clamping: limit.rlim_cur), startedAt: boot + fields[19] / ticks)
    }

    private static var bootTime: Double? {
        read("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
            .flatMap { Double($0.dropFirst("btime ".count)) }
    }

    private static func read(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
