package import Foundation

/// A program that runs beside a test: its output is read as it comes, and it is always ended by its own id.
package final class RunningProgram: Sendable {
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
    ///   - environment: values put over those of this process.
    ///   - folder: the folder it works in.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil
    ) throws {
        self.folder = try TemporaryFolder()
        let (inputs, outputs) = (Pipe(), Pipe())
        // A file cannot fill up, whether or not somebody reads it.
        let errors = try FileHandle(forWritingTo: URL(filePath: try self.folder.write("errors", [])))
        let process = try ChildProcess(
            path, arguments, environment: ProcessInfo.processInfo.environmentForPrograms.merging(environment) { $1 },
            in: folder, input: inputs.fileHandleForReading, output: outputs.fileHandleForWriting, errors: errors)
        // What it reads from and writes to ends with it only when nobody else has it.
        try inputs.fileHandleForReading.close()
        try outputs.fileHandleForWriting.close()
        input = inputs.fileHandleForWriting
        exit = Task { await process.ended() }
        self.process = process
        (lines, reader) = Self.read(outputs.fileHandleForReading)
    }

    deinit {
        process.send(SIGKILL)
    }

    /// Waits for what comes through a pipe; empty at its end.
    ///
    /// A read that a signal interrupts begins anew; Foundation's `availableData` ends the process for it.
    private static func nextData(of pipe: FileHandle) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            var got: Int
            repeat {
                got = Foundation.read(pipe.fileDescriptor, buffer.baseAddress, buffer.count)
            } while got < 0 && errno == EINTR
            count = max(0, got)
        }
    }

    /// Reads what the program prints on a thread of its own: reading blocks.
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

    /// The next line it prints, or nil when it has ended.
    package func line() async -> String? {
        // Iterators of one stream share its buffer.
        var iterator = lines.makeAsyncIterator()
        return await iterator.next()
    }

    /// The next line that holds a text, or nil when it has ended without.
    package func line(holding text: String) async -> String? {
        while let line = await line() {
            if line.contains(text) { return line }
        }
        return nil
    }

    /// Types a line.
    package func type(_ line: String) throws {
        try input.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Sends it a signal.
    package func send(_ signal: Int32) {
        process.send(signal)
    }

    /// Waits for its end.
    ///
    /// - Parameter input: what it still reads on standard input, which is closed then.
    /// - Returns: what it printed, and its status; 128 and the signal's number when a signal ended it.
    package func result(input text: String = "") async throws -> ProgramResult {
        // A program that does not read need not take what is typed.
        if !text.isEmpty { try? input.write(contentsOf: Data(text.utf8)) }
        try? input.close()
        let status = await exit.value
        return ProgramResult(
            status: status, output: String(decoding: await reader.value, as: UTF8.self), errors: try errors)
    }

    /// What it has printed on standard error so far.
    package var errors: String {
        get throws { String(decoding: try folder.read("errors"), as: UTF8.self) }
    }

    /// Runs a program to its end, without holding a thread meanwhile.
    package static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String = "",
        in folder: URL? = nil
    ) async throws -> ProgramResult {
        try await Turnstile.pass {
            try await RunningProgram(path, arguments, environment: environment, in: folder).result(input: input)
        }
    }
}
