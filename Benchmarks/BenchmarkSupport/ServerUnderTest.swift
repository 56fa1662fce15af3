import Encodings
import Foundation

/// The program `countersign serve` as a separate process.
final class ServerUnderTest: Sendable {
    /// The server could not be started.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// The operator's token, which only the first of several servers prints.
    let token: String?
    private let process: Process
    private let metrics: MetricsPage

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - program: the path of the program.
    ///   - data: its data folder.
    ///   - port: the port to listen on.
    ///   - arguments: further arguments of `serve`.
    ///   - processors: the processors to run on; nil for all.
    init(program: String, data: URL, port: Int, arguments: [String], processors: String?) throws {
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw Unusable(description: "There is no program \(program). Build it, or name it with --server.")
        }
        let pipe = Pipe()
        let metrics = try Self.freePort
        let process = Process()
        process.executableURL = URL(filePath: processors == nil ? program : "/usr/bin/env")
        // `taskset` becomes the server, so that the process's id stays.
        process.arguments =
            (processors.map { ["taskset", "-c", $0, program] } ?? []) + [
                "serve", "--port", "\(port)", "--data", data.path, "--json", "--print-bootstrap",
                "--metrics-listen", "127.0.0.1:\(metrics)",
            ] + arguments
        process.standardOutput = pipe
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("COUNTERSIGN_") }
        try process.run()
        self.process = process
        self.metrics = MetricsPage(url: "http://127.0.0.1:\(metrics)/metrics")
        do {
            token = try Self.announcement(from: pipe.fileHandleForReading)["bootstrap_token"]?.string
        } catch {
            // Otherwise the process would continue to run.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            throw error
        }
    }

    /// Reads the first line that a server prints, when it is ready for requests.
    private static func announcement(from output: FileHandle) throws -> JSONValue {
        var line: [UInt8] = []
        while !line.contains(UInt8(ascii: "\n")) {
            let data = output.availableData
            guard !data.isEmpty else { throw Unusable(description: "The server did not start.") }
            line += Array(data)
        }
        return try JSONValue(parsing: Array(line.prefix { $0 != UInt8(ascii: "\n") }))
    }

    /// A port on which no process listens.
    static var freePort: Int {
        get throws {
            guard let port = unusedPort else { throw Unusable(description: "There is no free port.") }
            return port
        }
    }

    private static var unusedPort: Int? {
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

    func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The server's use of CPU and memory.
    var usage: MeasuredProcess { MeasuredProcess(id: process.processIdentifier) }

    /// What the server has done until now.
    var served: Served { get async throws { try await metrics.read() } }
}
