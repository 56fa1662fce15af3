import Foundation
import Synchronization

/// How much a server has committed at a moment.
struct Committed: Sendable {
    /// Transactions, each one sync of the disk.
    var commits = 0
    /// Writes in them.
    var writes = 0
    /// When it was told.
    var at = ContinuousClock.now
}

/// Reads a server's log for what it says about its storage; what else it says is passed on.
final class CommitLog: Sendable {
    private let state = Mutex(Committed())

    /// The newest report.
    var newest: Committed { state.withLock { $0 } }

    init(reading handle: FileHandle) {
        // A thread of its own, because a read blocks. It ends with the server.
        Thread.detachNewThread { [self] in
            var rest = Data()
            while case let data = handle.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    note(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
        }
    }

    private func note(_ line: String) {
        guard let commits = number("commits", in: line), let writes = number("writes", in: line) else {
            try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
            return
        }
        state.withLock { $0 = Committed(commits: commits, writes: writes, at: .now) }
    }

    private func number(_ name: String, in line: String) -> Int? {
        line.split(separator: " ").first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
    }
}
