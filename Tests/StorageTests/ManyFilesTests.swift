import Foundation
import TestSupport
import Testing

@Suite("Programs that the tests start")
struct ManyFilesTests {
    /// Each list of open files is longer than the piece of it that is read at a time, and stands at another place, each
    /// time nearer by 64 bytes to where memory ends: once in a page, whoever reads beyond the list is ended.
    @Test("However many files are open, a program is started and has none of them", .enabled(if: isLinux))
    func manyFiles() async throws {
        let (results, finish) = AsyncStream.makeStream(of: Result<[ProgramResult], any Error>.self)
        Thread.detachNewThread {
            let files = (0..<1500).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
            var kept: [UnsafeMutableRawPointer?] = []
            defer {
                files.forEach { close($0) }
                kept.forEach { free($0) }
            }
            growMemoryByPages(true)
            defer { growMemoryByPages(false) }
            finish.yield(
                Result {
                    try (0..<70).map { _ in
                        kept.append(malloc(32_800))
                        return try Program.run("/bin/sh", ["-c", "echo /proc/self/fd/*"])
                    }
                })
        }
        var outcome = results.makeAsyncIterator()
        for result in try #require(await outcome.next()).get() {
            #expect(result.status == 0)
            // The last is the folder, which the shell reads.
            #expect(result.output == "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n")
        }
    }

    private static let isLinux = FileManager.default.fileExists(atPath: "/proc/self/fd")
}

/// Whether the allocator asks for a page when it needs one, and not for 32 of them.
private func growMemoryByPages(_ isSo: Bool) {
    typealias Option = @convention(c) (Int32, Int32) -> Int32
    guard let symbol = dlsym(nil, "mallopt") else { return }
    let topPad: Int32 = -2
    _ = unsafeBitCast(symbol, to: Option.self)(topPad, isSo ? 0 : 131_072)
}
