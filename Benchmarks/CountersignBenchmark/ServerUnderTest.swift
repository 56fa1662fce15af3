import Encodings
import Foundation

/// The program `countersign serve` as a process of its own, on a database of its own.
final class ServerUnderTest: Sendable {
    /// Why there is nothing to measure.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// Its URL.
    let url: String
    /// The operator's token.
    let token: String
    private let process: Process
    private let commits: CommitLog

    init(program: String, folder: URL) throws {
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw Unusable(description: "There is no program \(program). Build it, or name it with --server.")
        }
        let pipe = Pipe()
        guard let port = Self.freePort else { throw Unusable(description: "There is no free port for the metrics.") }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = [
            "serve", "--port", "0", "--data", folder.appending(path: "data").path, "--json", "--print-bootstrap",
            "--metrics-listen", "127.0.0.1:\(port)",
        ]
        process.standardOutput = pipe
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("COUNTERSIGN_") }
        try process.run()
        self.process = process
        commits = CommitLog(reading: "http://127.0.0.1:\(port)/metrics")
        var line: [UInt8] = []
        while !line.contains(UInt8(ascii: "\n")) {
            let data = pipe.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Unusable(description: "The server did not start.") }
            line += Array(data)
        }
        let announcement = try JSONValue(parsing: Array(line.prefix { $0 != UInt8(ascii: "\n") }))
        guard let url = announcement["issuer"]?.string, let token = announcement["bootstrap_token"]?.string else {
            process.terminate()
            throw Unusable(description: "The server announced itself in other words than expected.")
        }
        self.url = url
        self.token = token
    }

    private static var freePort: Int? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int? in
                guard bind(descriptor, pointer, length) == 0, getsockname(descriptor, pointer, &length) == 0 else {
                    return nil
                }
                return Int(UnsafeRawPointer(pointer).load(as: sockaddr_in.self).sin_port.bigEndian)
            }
        }
    }

    /// Ends it.
    func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The CPU time it has used, in seconds.
    var processorTime: Double {
        // Spec: proc_pid_stat(5). The name, in parentheses, may hold spaces; what follows counts from field 3.
        guard let text = read("stat"), let end = text.lastIndex(of: ")") else { return 0 }
        let fields = text[end...].split(separator: " ").dropFirst()
        let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// How much it has committed, when it last told.
    var committed: Committed { commits.newest }

    /// The memory it has in use, in bytes.
    var residentMemory: Int {
        let pages = read("statm")?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    private func read(_ file: String) -> String? {
        try? String(contentsOfFile: "/proc/\(process.processIdentifier)/\(file)", encoding: .utf8)
    }
}
