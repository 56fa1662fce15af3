package import Foundation

/// The output and the exit status of a program.
package struct ProgramResult: Sendable {
    /// The exit status.
    package let status: Int32
    /// Standard output.
    package let output: String
    /// Standard error.
    package let errors: String
}

extension ProcessInfo {
    /// The environment without the variables for tests: a server refuses variables that it does not know.
    package var environmentForPrograms: [String: String] {
        environment.filter { !$0.key.hasPrefix("COUNTERSIGN_") }
    }
}

/// Runs programs that a test needs, and finds them on the search path.
package enum Program {
    /// The path of a program; nil if it is not installed.
    package static func path(of name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program until it ends.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: its arguments.
    ///   - environment: variables that are added to those of this process, or replace them.
    ///   - input: its standard input.
    package static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String = ""
    ) throws -> ProgramResult {
        // A pipe could fill up while this process waits; a file cannot.
        let folder = try TemporaryFolder()
        let streams = try ["in", "out", "err"].map { name in
            let url = folder.url.appending(path: name)
            try Data(name == "in" ? Array(input.utf8) : []).write(to: url)
            return url
        }
        let process = try ChildProcess(
            path, arguments, environment: ProcessInfo.processInfo.environmentForPrograms.merging(environment) { $1 },
            input: try FileHandle(forReadingFrom: streams[0]), output: try FileHandle(forWritingTo: streams[1]),
            errors: try FileHandle(forWritingTo: streams[2]))
        return ProgramResult(
            status: process.wait(),
            output: String(decoding: try Data(contentsOf: streams[1]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: streams[2]), as: UTF8.self))
    }
}
