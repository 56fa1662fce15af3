import CountersignStorage
import Foundation
import TestSupport

/// One run of the real program, `countersign serve`.
final class ServerProcess: Sendable {
    private let process: ChildProcess
    private let exit = Occurrence()
    private let output: AsyncStream<String>

    /// Where the program is: what `COUNTERSIGN_PROGRAM` names, or beside the tests.
    static var program: String {
        get throws {
            if let program = ProcessInfo.processInfo.environment["COUNTERSIGN_PROGRAM"] { return program }
            let tests = [Bundle.main.executablePath, CommandLine.arguments.first].compactMap { $0 }
            // On macOS the tests are a bundle, and its executable lies three folders deeper.
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
    ///   - program: the program; the server itself, or a shell that becomes it.
    ///   - arguments: its arguments.
    ///   - errors: the file that its standard error is appended to.
    init(_ program: String, _ arguments: [String], errors: FileHandle) throws {
        let pipe = Pipe()
        // What is logged is read for secrets in the end: every line of it.
        let environment = ProcessInfo.processInfo.environmentForPrograms.merging(["COUNTERSIGN_LOG_LEVEL": "trace"]) {
            $1
        }
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
        // A thread of its own, because a read blocks. It ends with the process.
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

    /// Its process id.
    var id: Int32 { process.id }

    /// Whether it has ended.
    var hasEnded: Bool { process.status != nil }

    /// How it ended, for a message.
    var end: String { process.status.map { "status \($0)" } ?? "it runs" }

    /// The first line it prints, which a server does when it answers requests; nil when it ends without.
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
