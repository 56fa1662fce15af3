import AsyncHTTPClient
import NIOCore
import Synchronization

/// The number of a server's commits at one moment.
struct Committed: Sendable {
    /// The commits; each is one sync of the disk.
    var commits = 0
    /// The writes in these commits.
    var writes = 0
    /// The transactions that were run again after conflicts.
    var clashes = 0
    /// The time of the report.
    var at = ContinuousClock.now
}

/// Reads a server's storage metrics twice a second.
final class CommitLog: Sendable {
    private let state = Mutex(Committed())

    var newest: Committed { state.withLock { $0 } }

    init(reading url: String) {
        Task { [weak self] in
            while self != nil {
                if let committed = try? await Self.read(url) { self?.state.withLock { $0 = committed } }
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private static func read(_ url: String) async throws -> Committed? {
        let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
        let page = String(buffer: try await response.body.collect(upTo: 1 << 20))
        func number(_ name: String) -> Int? {
            page.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.flatMap { Int($0.dropFirst(name.count + 1)) }
        }
        guard let commits = number("countersign_commits_total"), let writes = number("countersign_writes_total") else {
            return nil
        }
        return Committed(
            commits: commits, writes: writes, clashes: number("countersign_transaction_clashes_total") ?? 0)
    }
}
