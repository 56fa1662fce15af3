package import Foundation

/// A program beside a test: its output is read as it is printed, and it is always ended by its process id.
package final class RunningProgram: Sendable {
    private let name: String
    private let process: ChildProcess
    private let lines: AsyncStream<String>
    private let reader: Task<[UInt8], Never>
    private let exit: Task<Int32, Never>
    private let input: FileHandle
    private let folder: TemporaryFolder

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: its arguments.
    ///   - environment: variables that are added to those of this process, or replace them.
    ///   - folder: its working folder.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil
    ) throws {
        self.folder = try TemporaryFolder()
        let (inputs, outputs) = (Pipe(), Pipe())
        // A file cannot fill up, whether or not it is read.
        let errors = try FileHandle(forWritingTo: URL(filePath: try self.folder.write("errors", [])))
        let process = try ChildProcess(
            path, arguments, environment: ProcessInfo.processInfo.environmentForPrograms.merging(environment) { $1 },
            in: folder, input: inputs.fileHandleForReading, output: outputs.fileHandleForWriting, errors: errors)
        // The pipes end with the program only if this process has closed its copies of the program's ends.
        try inputs.fileHandleForReading.close()
        try outputs.fileHandleForWriting.close()
        input = inputs.fileHandleForWriting
        exit = Task { await process.ended() }
        self.process = process
        name = URL(filePath: path).lastPathComponent
        (lines, reader) = Self.read(outputs.fileHandleForReading)
    }

    deinit {
        process.send(SIGKILL)
    }

    /// Waits for data from a pipe; empty at its end.
    ///
    /// A read that a signal interrupts is repeated. Foundation's `availableData` would end the process instead.
    private static func nextData(of pipe: FileHandle) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            var got: Int
            repeat {
                got = Foundation.read(pipe.fileDescriptor, buffer.baseAddress, buffer.count)
            } while got < 0 && errno == EINTR
            count = max(0, got)
        }
    }

    /// Reads the program's output on a separate thread, because reading blocks.
    private static func read(_ output: FileHandle) -> (AsyncStream<String>, Task<[UInt8], Never>) {
        let (lines, announceLine) = AsyncStream.makeStream(of: String.self)
        let (wholes, announceWhole) = AsyncStream.makeStream(of: [UInt8].self)
        let thread = Thread {
            var (whole, start) = ([UInt8](), 0)
            while case let data = Self.nextData(of: output), !data.isEmpty {
                whole += data
                while let end = whole[start...].firstIndex(of: 0x0A) {
                    announceLine.yield(String(decoding: whole[start..<end], as: UTF8.self))
                    start = end + 1
                }
            }
            announceLine.finish()
            announceWhole.yield(whole)
            announceWhole.finish()
        }
        thread.start()
        return (lines, Task { await wholes.first { _ in true } ?? [] })
    }

    /// The next line of output; nil after the program has ended.
    ///
    /// A program that prints nothing for two minutes is killed, so that the test fails instead of waiting for ever.
    package func line() async -> String? {
        let limit = Task {
            try await Task.sleep(for: .seconds(120))
            FileHandle.standardError.write(Data("\(name) printed nothing for two minutes and is killed\n".utf8))
            send(SIGKILL)
        }
        defer { limit.cancel() }
        // Iterators of one stream share its buffer.
        var iterator = lines.makeAsyncIterator()
        return await iterator.next()
    }

    /// The next line that contains a text; nil if the program ends first.
    package func line(holding text: String) async -> String? {
        while let line = await line() {
            if line.contains(text) { return line }
        }
        return nil
    }

    /// Writes a line to the program's standard input.
    package func type(_ line: String) throws {
        try input.write(contentsOf: Data("\(line)\n".utf8))
    }

    package func send(_ signal: Int32) {
        process.send(signal)
    }

    /// Waits until the program ends.
    ///
    /// - Parameter input: further input, after which standard input is closed.
    /// - Returns: the output, and the exit status or 128 plus the signal's number if a signal ended the program.
    package func result(input text: String = "") async throws -> ProgramResult {
        // A program that has stopped reading need not take the input.
        if !text.isEmpty { try? input.write(contentsOf: Data(text.utf8)) }
        try? input.close()
        let status = await exit.value
        return ProgramResult(
            status: status, output: String(decoding: await reader.value, as: UTF8.self), errors: try errors)
    }

    /// The standard error so far.
    package var errors: String {
        get throws { String(decoding: try folder.read("errors"), as: UTF8.self) }
    }

    /// Runs a program until it ends, without blocking a thread.
    package static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String = "",
        in folder: URL? = nil
    ) async throws -> ProgramResult {
        try await Turnstile.pass {
            try await RunningProgram(path, arguments, environment: environment, in: folder).result(input: input)
        }
    }
}
