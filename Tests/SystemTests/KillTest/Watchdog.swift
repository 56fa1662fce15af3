import Foundation
import TestSupport

/// Kills the server if the tests end without doing so, even if the tests are killed.
///
/// A shell reads the process ids of the servers from a pipe. The pipe is closed when the tests have ended.
final class Watchdog: Sendable {
    private let pipe = Pipe()

    init() throws {
        let shell = try ChildProcess(
            "/bin/sh",
            ["-c", "last=; while read -r id; do last=$id; done; test -z \"$last\" || kill -9 \"$last\" 2>/dev/null"],
            environment: [:], input: pipe.fileHandleForReading)
        try pipe.fileHandleForReading.close()
        Thread.detachNewThread { shell.wait() }
    }

    deinit {
        try? pipe.fileHandleForWriting.close()
    }

    /// Watches this process instead of the previous one; nil for none.
    func watch(_ id: Int32?) throws {
        try pipe.fileHandleForWriting.write(contentsOf: Array("\(id.map { "\($0)" } ?? "")\n".utf8))
    }
}
