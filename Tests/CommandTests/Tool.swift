import Encodings
import Foundation
import TestSupport
import Testing

/// The real binary, as it was built beside these tests.
enum Tool {
    /// The binary is not there.
    struct NotBuilt: Error, CustomStringConvertible {
        let description: String
    }

    static var path: String {
        get throws {
            let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
            let path = tests.deletingLastPathComponent().appending(path: "countersign").path
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw NotBuilt(description: "\(path) is missing: build the product countersign with the tests")
            }
            return path
        }
    }

    /// Runs a command to its end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", in folder: URL? = nil
    ) async throws -> ProgramResult {
        try await RunningProgram.run(
            try path, arguments, environment: clean.merging(environment) { $1 }, input: input, in: folder)
    }

    /// Starts a command.
    static func start(
        _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil
    ) throws -> RunningProgram {
        try RunningProgram(try path, arguments, environment: clean.merging(environment) { $1 }, in: folder)
    }

    /// What the surroundings of the tests may have set must not be read.
    private static let clean = ["COUNTERSIGN_URL": "http://127.0.0.1:1", "COUNTERSIGN_LOG_LEVEL": "warning"]
}

extension ProgramResult {
    /// Standard output as one JSON object on one line.
    func json(sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONValue {
        #expect(output.hasSuffix("\n") && output.count { $0 == "\n" } == 1, sourceLocation: sourceLocation)
        return try JSONValue(parsing: Array(output.dropLast().utf8))
    }
}
