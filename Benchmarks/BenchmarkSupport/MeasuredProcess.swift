import Foundation

/// A process whose use of the machine is read from the system.
package struct MeasuredProcess: Sendable {
    /// The process.
    package let id: Int32

    /// A process by its id.
    package init(id: Int32) { self.id = id }

    /// The CPU time it has used, in seconds.
    package var processorTime: Double {
        let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The memory it has in use, in bytes.
    package var residentMemory: Int {
        let pages = read("statm")?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The processes that it started and that have not ended.
    private var children: [MeasuredProcess] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.map(MeasuredProcess.init(id:)).filter { $0.parent == id }
    }

    /// The CPU time used by it and by the processes that it started and that have not ended, in seconds.
    package var processorTimeWithChildren: Double {
        ([self] + children).map(\.processorTime).reduce(0, +)
    }

    private var parent: Int32? { fields.dropFirst(1).first.flatMap { Int32($0) } }

    /// What `stat` holds from field 3 on: the name before it, in parentheses, may hold spaces.
    ///
    /// Spec: proc_pid_stat(5).
    private var fields: ArraySlice<Substring> {
        guard let text = read("stat"), let end = text.lastIndex(of: ")") else { return [] }
        return text[end...].split(separator: " ").dropFirst()
    }

    private func read(_ file: String) -> String? {
        try? String(contentsOfFile: "/proc/\(id)/\(file)", encoding: .utf8)
    }
}
