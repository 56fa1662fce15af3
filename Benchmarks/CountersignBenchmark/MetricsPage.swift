import AsyncHTTPClient
import NIOCore

/// What a server has done up to one moment.
struct Served: Sendable {
    /// The requests that were answered.
    var requests = 0
    /// The statements run on the database, those of transactions included.
    var statements = 0
    /// The commits; each is one sync of the disk.
    var commits = 0
    /// The writes in these commits.
    var writes = 0
    /// The transactions that were run again after conflicts.
    var clashes = 0
    /// The time of the report.
    var at = ContinuousClock.now

    /// What was done since an earlier moment.
    func since(_ earlier: Served) -> Served {
        Served(
            requests: requests - earlier.requests, statements: statements - earlier.statements,
            commits: commits - earlier.commits, writes: writes - earlier.writes, clashes: clashes - earlier.clashes,
            at: at)
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
