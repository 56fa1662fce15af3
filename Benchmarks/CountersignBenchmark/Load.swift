import AsyncHTTPClient
import BenchmarkSupport
import Countersign
import Encodings
import Foundation
import NIOHTTP1

/// The measurements.
struct Measured: Sendable {
    let times: [Step: [Duration]]
    let spent: Spent

    var cycles: Int { times[.cycle]?.count ?? 0 }
}

/// A relying party, and pairs of its portals and of phones that work at the same time.
struct Load: Sendable {
    let deployment: Deployment
    private let receiver: Receiver
    private let portal: PortalConnection
    private let transport: PooledTransport
    /// What became of the requests.
    let exchanges = Exchanges()

    /// Registers a client that may ask in every way.
    init(_ deployment: Deployment) async throws {
        receiver = try await Receiver()
        self.deployment = deployment
        let administrator = PortalConnection(operating: deployment, noting: exchanges)
        transport = PooledTransport(sharing: administrator)
        for (name, type) in Kind.types { _ = try await administrator.call(.PUT, "/v1/admin/types/\(name)", type) }
        (_, portal) = try await administrator.addClient(
            .members([
                "name": "ACME Shop", "callback_uris": [.string(receiver.url("/callback"))],
                "return_uris": [.string(receiver.url("/done"))],
                "authenticators": [["name": "phrase", "hook": .string(receiver.url("/hook"))]],
            ]))
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
        try await portal.addUser(with: transport)
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
    func shutdown() async throws { try await portal.http.shutdown() }

    private func measure(_ samples: Samples, for duration: Duration) async throws -> Measured {
        let (times, spent) = try await deployment.spending {
            samples.begin()
            try await Task.sleep(for: duration)
            return samples.end()
        }
        return Measured(times: times, spent: spent)
    }
}
