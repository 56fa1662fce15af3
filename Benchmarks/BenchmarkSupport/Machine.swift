import Foundation

/// Where and with what a measurement was made.
package struct Machine: Sendable {
    /// The checked-out commit, with a mark if files differ from it.
    package let commit = Self.output(of: ["git", "describe", "--always", "--dirty"]) ?? "unknown"
    package let processors = ProcessInfo.processInfo.activeProcessorCount

    /// The machine that this program runs on.
    package init() {}

    /// Machine and versions, for people.
    package var text: String {
        let memory = Double(ProcessInfo.processInfo.physicalMemory) / Double(1 << 30)
        return """
            \(processors) processors (\(Self.processorModel)), \(String(format: "%.0f", memory)) GB, \
            \(ProcessInfo.processInfo.operatingSystemVersionString), \(Self.output(of: ["uname", "-sr"]) ?? ""); \
            commit \(commit), \(buildConfiguration) build
            """
    }

    private static var processorModel: String {
        let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = info.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }

    private static func output(of command: [String]) -> String? {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil, let output = try? pipe.fileHandleForReading.readToEnd() else { return nil }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
