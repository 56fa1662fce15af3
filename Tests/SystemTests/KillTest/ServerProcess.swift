import CountersignStorage
import Foundation
import TestSupport

/// One process of the real program, `countersign serve`.
final class ServerProcess: Sendable {
    private let process: ChildProcess
    private let exit = Occurrence()
    private let output: AsyncStream<String>

    /// The path of the program: the value of `COUNTERSIGN_PROGRAM`, or else beside the tests.
    static var program: String {
        get throws {
            if let program = ProcessInfo.processInfo.environment["COUNTERSIGN_PROGRAM"] { return program }
            let tests = [Bundle.main.executablePath, CommandLine.arguments.first].compactMap { $0 }
            // On macOS the tests are a bundle, whose executable is three folders deeper.
            let folders = tests.map { URL(filePath: $0).deletingLastPathComponent() }.flatMap { folder in
                [folder, folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()]
            }
            let programs = folders.map { $0.appending(path: "countersign").path }
            guard let program = programs.first(where: FileManager.default.isExecutableFile(atPath:)) else {
                throw Unusable(description: "there is no program among \(programs): build it first")
            }
            return program
        }
    }

    /// Why a server cannot be tested.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: the path of the server, or of a shell that executes it.
    ///   - arguments: its arguments.
    ///   - environment: further variables of its environment.
    ///   - errors: the file for its standard error.
    init(
        _ program: String, _ arguments: [String], environment more: [String: String] = [:], errors: FileHandle
    ) throws {
        let pipe = Pipe()
        // The log is searched for secrets at the end, so everything is logged.
        let environment = ProcessInfo.processInfo.environmentForPrograms
            .merging(["COUNTERSIGN_LOG_LEVEL": "trace"]) { $1 }.merging(more) { $1 }
        process = try ChildProcess(
            program, arguments, environment: environment, output: pipe.fileHandleForWriting, errors: errors)
        try pipe.fileHandleForWriting.close()
        let (output, continuation) = AsyncStream.makeStream(of: String.self)
        self.output = output
        Thread.detachNewThread { [process, exit] in
            process.wait()
            exit.happen()
        }
        let reader = pipe.fileHandleForReading
        // A separate thread, because reading blocks; it ends with the process.
        Thread.detachNewThread {
            while case let data = nextData(of: reader), !data.isEmpty {
                continuation.yield(String(decoding: data, as: UTF8.self))
            }
            continuation.finish()
        }
    }

    deinit {
        process.send(SIGKILL)
    }

    var id: Int32 { process.id }

    var hasEnded: Bool { process.status != nil }

    /// The exit status, for a message.
    var end: String { process.status.map { "status \($0)" } ?? "it runs" }

    /// The first line of output, which a server prints when it answers requests; nil if the process ends before.
    func firstLine() async -> String? {
        var text = ""
        for await part in output {
            text += part
            if let end = text.firstIndex(of: "\n") { return String(text[..<end]) }
        }
        return nil
    }

    /// Sends a signal and returns when the process has ended.
    func end(by signal: Int32) async {
        process.send(signal)
        await exit.wait()
    }

    /// Returns when the process has ended.
    func wait() async {
        await exit.wait()
    }
}
