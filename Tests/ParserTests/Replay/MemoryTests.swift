import Encodings
import Foundation
import Testing

/// Inputs made to cost as much memory as their size allows.
///
/// Each is read in a process of its own, whose memory nothing else changes: what counts is what the system gave to it
/// at most, whoever allocated it.
@Suite("No input takes more memory than a small multiple of its size")
struct MemoryTests {
    /// What a process may take for reading anything at all, in bytes: the system gives memory by the megabyte, to one run
    /// two of them and to the next three.
    private static let allowance = 4 << 20

    @Test("Read or refused, it costs no more than its parser may", .timeLimit(.minutes(15)), arguments: Hostile.all)
    func hostile(input: Hostile) async throws {
        let name = input.description
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [name = name as String] in
            let hostile = try #require(Hostile.all.first { $0.description == name })
            let parser = try #require(Parser.all.first { $0.description == hostile.parser })
            // What is made once for the process is made by a small input.
            _ = try await parser.check(hostile.make(64))
            let bytes = hostile.make(hostile.size)
            let before = try ProcessMemory.peak()
            _ = try await parser.check(bytes)
            let growth = try ProcessMemory.peak() - before
            let allowed = bytes.count * hostile.factor + MemoryTests.allowance
            let figures = "\(hostile): \(bytes.count) bytes took \(growth), \(growth / bytes.count) for each"
            FileHandle.standardError.write(Data("\(figures)\n".utf8))
            try #require(growth <= allowed, "\(figures)")
        }
        #expect(result.standardErrorContent.isEmpty == false)
    }
}

/// How much memory the system has given to this process.
private enum ProcessMemory {
    struct Unknown: Error {}

    /// The most it ever had at a time, in bytes.
    static func peak() throws -> Int {
        #if os(Linux)
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            let number = try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
            return number * 1024
        #else
            var usage = rusage()
            guard getrusage(RUSAGE_SELF, &usage) == 0 else { throw Unknown() }
            return usage.ru_maxrss
        #endif
    }
}
