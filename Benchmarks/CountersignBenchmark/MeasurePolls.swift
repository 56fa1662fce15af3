import ArgumentParser
import BenchmarkSupport
import Countersign
import Foundation
import Synchronization

/// What a poll costs the server that finds nothing.
struct MeasurePolls: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "polls", abstract: "Measure empty polls of phones, whose requests were signed before.")

    @OptionGroup var servers: ServerOptions

    @Option(help: "How many phones poll at the same time.")
    var phones = 50

    @Option(help: "How often each of them polls.")
    var polls = 100

    mutating func run() async throws {
        let (cost, served, count) = try await servers.withServers { deployment, unavoidable in
            let load = try await Load(deployment)
            var requests: [[TransportRequest]] = []
            for _ in 0..<phones {
                let transport = CapturingTransport(load)
                let (_, phone) = try await load.phone(by: transport)
                requests.append(try await transport.captured(polls) { _ = try await phone.pendingChallenges() })
            }
            let before = try await deployment.served
            let time = deployment.processorTime
            try await withThrowingTaskGroup(of: Void.self) { group in
                for requests in requests {
                    group.addTask {
                        for request in requests {
                            let response = try await load.send(request)
                            guard response.status == 200 else {
                                throw Unexpected(
                                    description: "poll: \(response.status) "
                                        + String(decoding: response.body, as: UTF8.self))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let count = Double(phones * polls)
            let cost = (deployment.processorTime - time) / count * 1_000_000 / unavoidable.verify
            let served = try await deployment.served.since(before)
            try? await load.shutdown()
            return (cost, served, count)
        }
        print(
            String(
                format:
                    "An empty poll on %@: %.2f V of the server, %.2f statements with those of transactions, %d writes",
                servers.engine, cost, Double(served.statements) / count, served.writes))
        try [
            .atMost(4, "V", "server CPU of an empty poll (\(servers.engine))", cost),
            .atMost(0.01, "writes", "writes of an empty poll (\(servers.engine))", Double(served.writes) / count),
        ].check()
    }
}

/// Sends requests, or keeps them to be sent later.
private final class CapturingTransport: Transport {
    private struct Captured: Error {}

    private let load: Load
    private let requests = Mutex<[TransportRequest]?>(nil)

    init(_ load: Load) {
        self.load = load
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let isKept = requests.withLock { requests in
            requests?.append(request)
            return requests != nil
        }
        if isKept { throw Captured() }
        return try await load.send(request)
    }

    /// Runs something as often as asked, and returns the requests that it would have sent.
    func captured(_ count: Int, _ body: () async throws -> Void) async throws -> [TransportRequest] {
        requests.withLock { $0 = [] }
        for _ in 0..<count { _ = try? await body() }
        return requests.withLock { requests in
            defer { requests = nil }
            return requests ?? []
        }
    }
}
