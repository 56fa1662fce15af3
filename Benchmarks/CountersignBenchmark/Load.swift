import AsyncHTTPClient
import BenchmarkSupport
import Countersign
import Encodings
import Foundation
import NIOHTTP1

/// The measurements.
struct Measured: Sendable {
    let times: [Step: [Duration]]
    let seconds: Double
    /// The CPU time of the servers, of the database's processes and of this process, in seconds.
    let serverTime: Double
    let databaseTime: Double
    let generatorTime: Double
    let residentMemory: Int
    /// The commits of the database in a second; each is one sync of the disk.
    let commitsPerSecond: Double
    /// The average number of writes in a commit.
    let writesPerCommit: Double
    /// The transactions that were run again after conflicts, in a second.
    let clashesPerSecond: Double

    var cycles: Int { times[.cycle]?.count ?? 0 }
}

/// Pairs of portals and phones that work at the same time.
struct Load: Sendable {
    private let deployment: Deployment
    private let http: HTTPClient
    private let pairs: [Pair]

    /// Registers a client, and enrolls a user with a phone for each pair.
    init(_ deployment: Deployment, pairs count: Int, asksAndWaits: Bool) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4 * count
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        self.deployment = deployment
        let administrator = PortalConnection(
            http: http, deployment: deployment, authorization: "Bearer \(deployment.token)")
        _ = try await administrator.call(.PUT, "/v1/admin/types/payment", .members([:]))
        let client = try await administrator.call(.POST, "/v1/admin/clients", .members(["name": "ACME Shop"]))
        let credentials = "\(client["client_id"]?.string ?? ""):\(client["client_secret"]?.string ?? "")"
        let portal = PortalConnection(
            http: http, deployment: deployment, authorization: "Basic \(Base64.encode(Array(credentials.utf8)))")
        var pairs: [Pair] = []
        for _ in 0..<count { pairs.append(try await Self.pair(portal, asksAndWaits: asksAndWaits)) }
        self.pairs = pairs
    }

    private static func pair(_ portal: PortalConnection, asksAndWaits: Bool) async throws -> Pair {
        let user = try await portal.call(.POST, "/v1/users", .members([:]))["id"]?.string ?? ""
        let ticket = try await portal.call(.POST, "/v1/users/\(user)/enrollment-tickets")["qr"]?.string ?? ""
        let deployment = portal.deployment
        guard let issuer = URL(string: deployment.issuer) else {
            throw Pair.Unexpected(description: deployment.issuer)
        }
        let authenticator = try await Authenticator(
            issuer: issuer, app: AppDescription(name: "Benchmark", version: "1", deviceName: "Benchmark phone"),
            vault: MemoryVault(), transport: PooledTransport(http: portal.http, deployment: deployment))
        _ = try await authenticator.enroll(with: .ticket(ticket))
        return Pair(portal: portal, user: user, authenticator: authenticator, asksAndWaits: asksAndWaits)
    }

    /// Runs the load without measuring for `warmup`, then measures for `duration`.
    func run(warmup: Duration, duration: Duration) async throws -> Measured {
        let samples = Samples()
        let measured = try await withThrowingTaskGroup(of: Measured?.self) { group in
            for pair in pairs {
                group.addTask {
                    try await pair.work(samples)
                    return nil
                }
            }
            group.addTask {
                try await Task.sleep(for: warmup)
                return try await measure(samples, for: duration)
            }
            defer { group.cancelAll() }
            // A pair returns only when it was cancelled; an error of a pair ends the measurement.
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
        // Cuts off requests in progress, because the server ends anyway.
        try? await http.shutdown()
        return measured
    }

    private func measure(_ samples: Samples, for duration: Duration) async throws -> Measured {
        let begin = ContinuousClock.now
        let (server, database) = (deployment.processorTime, deployment.databaseTime)
        let generator = Self.processorTime
        let before = deployment.committed
        samples.begin()
        try await Task.sleep(for: duration)
        let times = samples.end()
        let after = deployment.committed
        let commits = Double(max(after.commits - before.commits, 1))
        let seconds = max((after.at - before.at).inSeconds, 0.001)
        return Measured(
            times: times, seconds: (ContinuousClock.now - begin).inSeconds,
            serverTime: deployment.processorTime - server, databaseTime: deployment.databaseTime - database,
            generatorTime: Self.processorTime - generator, residentMemory: deployment.residentMemory,
            commitsPerSecond: commits / seconds, writesPerCommit: Double(after.writes - before.writes) / commits,
            clashesPerSecond: Double(after.clashes - before.clashes) / seconds)
    }

    /// The CPU time of this process, in seconds.
    private static var processorTime: Double {
        Double(clock()) / Double(CLOCKS_PER_SEC)
    }
}
