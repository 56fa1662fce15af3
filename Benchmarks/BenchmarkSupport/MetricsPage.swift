import AsyncHTTPClient
import NIOCore

/// What a server has done up to one moment.
package struct Served: Sendable {
    /// The requests that were answered.
    package var requests = 0
    /// The statements run on the database, those of transactions included.
    package var statements = 0
    /// The commits; each is one sync of the disk.
    package var commits = 0
    /// The writes in these commits.
    package var writes = 0
    /// The transactions that were run again after conflicts.
    package var clashes = 0
    /// The time of the report.
    package var at = ContinuousClock.now

    /// What was done since an earlier moment.
    package func since(_ earlier: Served) -> Served {
        Served(
            requests: requests - earlier.requests, statements: statements - earlier.statements,
            commits: commits - earlier.commits, writes: writes - earlier.writes, clashes: clashes - earlier.clashes,
            at: at)
    }

    /// What was done in two times, or by two servers.
    static func + (left: Served, right: Served) -> Served {
        Served(
            requests: left.requests + right.requests, statements: left.statements + right.statements,
            commits: left.commits + right.commits, writes: left.writes + right.writes,
            clashes: left.clashes + right.clashes, at: max(left.at, right.at))
    }
}

/// Reads a server's metrics.
struct MetricsPage: Sendable {
    let url: String

    /// What the server has done until now.
    func read() async throws -> Served {
        let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(10))
        let lines = String(buffer: try await response.body.collect(upTo: 1 << 20)).split(separator: "\n")
        func sum(_ name: String) -> Int {
            lines.filter { $0.hasPrefix("\(name) ") || $0.hasPrefix("\(name){") }
                .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
        }
        return Served(
            requests: sum("countersign_http_requests_total"), statements: sum("countersign_statements_total"),
            commits: sum("countersign_commits_total"), writes: sum("countersign_writes_total"),
            clashes: sum("countersign_transaction_clashes_total"))
    }
}
