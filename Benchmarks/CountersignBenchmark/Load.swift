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
    /// What the servers did meanwhile.
    let served: Served

    var cycles: Int { times[.cycle]?.count ?? 0 }
    /// The commits of the database in a second; each is one sync of the disk.
    var commitsPerSecond: Double { Double(served.commits) / seconds }
    /// The average number of writes in a commit.
    var writesPerCommit: Double { Double(served.writes) / Double(max(served.commits, 1)) }
}

/// A relying party, and pairs of its portals and of phones that work at the same time.
struct Load: Sendable {
    let deployment: Deployment
    private let http: HTTPClient
    private let receiver: Receiver
    private let portal: PortalConnection
    private let transport: PooledTransport
    /// What became of the requests.
    let exchanges = Exchanges()

    /// Registers a client that may ask in every way.
    init(_ deployment: Deployment) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4096
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        receiver = try await Receiver()
        self.deployment = deployment
        transport = PooledTransport(http: http, deployment: deployment, exchanges: exchanges)
        let administrator = PortalConnection(
            http: http, deployment: deployment, exchanges: exchanges, authorization: "Bearer \(deployment.token)")
        for (name, type) in Kind.types { _ = try await administrator.call(.PUT, "/v1/admin/types/\(name)", type) }
        let client = try await administrator.call(
            .POST, "/v1/admin/clients",
            .members([
                "name": "ACME Shop", "callback_uris": [.string(receiver.url("/callback"))],
                "return_uris": [.string(receiver.url("/done"))],
                "authenticators": [["name": "phrase", "hook": .string(receiver.url("/hook"))]],
            ]))
        let credentials = "\(client["client_id"]?.string ?? ""):\(client["client_secret"]?.string ?? "")"
        portal = PortalConnection(
            http: http, deployment: deployment, exchanges: exchanges,
            authorization: "Basic \(Base64.encode(Array(credentials.utf8)))")
    }

    /// Enrolls users with a phone each.
    func pairs(_ count: Int, _ kind: Kind) async throws -> [Pair] {
        try await withThrowingTaskGroup(of: Pair.self) { group in
            var pairs: [Pair] = []
            for number in 0..<count {
                // The server refuses what is more than it can do.
                if number >= 16, let pair = try await group.next() { pairs.append(pair) }
                group.addTask { try await pair(kind) }
            }
            for try await pair in group { pairs.append(pair) }
            return pairs
        }
    }

    private func pair(_ kind: Kind) async throws -> Pair {
        let (user, phone) = try await phone(by: transport)
        if let enrollment = await phone.enrollments.first { try await kind.setUp(enrollment) }
        return Pair(portal: portal, user: user, phone: phone, kind: kind, receiver: receiver)
    }

    /// Enrolls a user's phone, which sends its requests through a transport of its own.
    func phone(by transport: any Transport) async throws -> (user: String, phone: Authenticator) {
        let user = try await portal.call(.POST, "/v1/users", .members([:]))["id"]?.string ?? ""
        let ticket = try await portal.call(.POST, "/v1/users/\(user)/enrollment-tickets")["qr"]?.string ?? ""
        guard let issuer = URL(string: deployment.issuer) else {
            throw Pair.Unexpected(description: deployment.issuer)
        }
        let phone = try await Authenticator(
            issuer: issuer, app: AppDescription(name: "Benchmark", version: "1", deviceName: "Benchmark phone"),
            vault: InsecureSimulatedBiometrics(before: MemoryVault()) { _ in nil }, transport: transport)
        _ = try await phone.enroll(with: .ticket(ticket))
        return (user, phone)
    }

    /// Sends requests of phones over the connections that all share.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await transport.send(request)
    }

    /// Has pairs work without measuring for `warmup`, then measures for `duration`.
    func run(_ pairs: [Pair], warmup: Duration, duration: Duration) async throws -> Measured {
        let samples = Samples()
        return try await withThrowingTaskGroup(of: Measured?.self) { group in
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
    }

    /// Cuts off requests in progress.
    func shutdown() async throws { try await http.shutdown() }

    private func measure(_ samples: Samples, for duration: Duration) async throws -> Measured {
        let before = try await deployment.served
        let begin = ContinuousClock.now
        let (server, database) = (deployment.processorTime, deployment.databaseTime)
        let generator = Self.processorTime
        samples.begin()
        try await Task.sleep(for: duration)
        let times = samples.end()
        return Measured(
            times: times, seconds: (ContinuousClock.now - begin).inSeconds,
            serverTime: deployment.processorTime - server, databaseTime: deployment.databaseTime - database,
            generatorTime: Self.processorTime - generator, residentMemory: deployment.residentMemory,
            served: try await deployment.served.since(before))
    }

    /// The CPU time of this process, in seconds.
    private static var processorTime: Double {
        Double(clock()) / Double(CLOCKS_PER_SEC)
    }
}
