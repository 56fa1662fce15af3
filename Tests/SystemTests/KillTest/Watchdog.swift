import Foundation

/// Kills the server when the tests end without having done so, even when they are killed themselves.
///
/// A shell reads the process ids of the servers from a pipe. When the pipe's other end is gone, so are the tests.
final class Watchdog: Sendable {
    private let process = Process()
    private let pipe = Pipe()

    init() throws {
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", "last=; while read -r id; do last=$id; done; test -z \"$last\" || kill -9 \"$last\" 2>/dev/null",
        ]
        process.standardInput = pipe
        try process.run()
    }

    deinit {
        try? pipe.fileHandleForWriting.close()
    }

    /// Watches this process instead of the one before; nil when there is none to watch.
    func watch(_ id: Int32?) throws {
        try pipe.fileHandleForWriting.write(contentsOf: Array("\(id.map { "\($0)" } ?? "")\n".utf8))
    }
}
