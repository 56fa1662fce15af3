import Foundation

/// A process whose CPU time and memory are read from `/proc`.
package struct MeasuredProcess: Sendable {
    package let id: Int32

    package init(id: Int32) { self.id = id }

    /// The CPU time used so far, in seconds.
    package var processorTime: Double {
        let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The resident memory, in bytes.
    package var residentMemory: Int {
        let pages = read("statm")?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The child processes that have not ended.
    private var children: [MeasuredProcess] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.map(MeasuredProcess.init(id:)).filter { $0.parent == id }
    }

    /// The CPU time of the process and of its running child processes, in seconds.
    package var processorTimeWithChildren: Double {
        ([self] + children).map(\.processorTime).reduce(0, +)
    }

    private var parent: Int32? { fields.dropFirst(1).first.flatMap { Int32($0) } }

    /// The fields of `stat` from field 3 on; the name before them is in parentheses and may contain spaces.
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
