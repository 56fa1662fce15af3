import BenchmarkSupport
import Foundation

/// What was measured of one kind of request, or of cycles of several.
struct Figure: Sendable {
    let name: String
    /// How long each took, in seconds.
    var times: [Double] = []
    /// How many requests were not sent, as what they carry had become too old.
    var left = 0
    var spent = Spent()
    /// V, measured before and after each part, in microseconds.
    private var verifications: [Double] = []

    init(name: String) { self.name = name }

    /// V while it was measured, in microseconds.
    var verification: Double { verifications.reduce(0, +) / Double(max(verifications.count, 1)) }

    /// The requests, or cycles, in a second.
    var rate: Double { spent.seconds > 0 ? Double(times.count) / spent.seconds : 0 }

    /// The CPU time of a request, or a cycle, in verifications.
    var server: Double { cost(spent.serverTime) }

    private func cost(_ seconds: Double) -> Double {
        seconds / Double(max(times.count, 1)) * 1_000_000 / verification
    }

    /// Sends requests, the first tenth without measuring.
    ///
    /// - Parameters:
    ///   - requests: the requests.
    ///   - volley: the connections.
    ///   - deployment: the servers.
    /// - Returns: what came of each request, those before measuring included; nil where one had become too old.
    /// - Throws: ``Unexpected`` if a reply is no success.
    mutating func measure(
        _ requests: [PreparedRequest], by volley: Volley, on deployment: Deployment
    ) async throws -> [Exchange?] {
        let warmup = requests.count / 10
        let before = try await volley.fire(requests[..<warmup], expecting: 200)
        verifications.append(await Unavoidable.verificationWhileBusy())
        let (measured, more) = try await deployment.spending {
            try await volley.fire(requests[warmup...], expecting: 200)
        }
        verifications.append(await Unavoidable.verificationWhileBusy())
        times += measured.compactMap { $0?.seconds }
        let all = before + measured
        left += all.count { $0 == nil }
        spent = spent + more
        return all
    }

    /// Runs cycles of several requests, the first tenth without measuring.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - deployment: the servers.
    ///   - run: runs so many, and returns how long each took, in seconds.
    mutating func measure(
        _ count: Int, on deployment: Deployment, _ run: (Int) async throws -> [Double]
    ) async throws {
        let warmup = count / 10
        _ = try await run(warmup)
        verifications.append(await Unavoidable.verificationWhileBusy())
        let (measured, more) = try await deployment.spending { try await run(count - warmup) }
        verifications.append(await Unavoidable.verificationWhileBusy())
        times += measured
        spent = spent + more
    }

    /// The heading of the table.
    static let heading = """
        | | a second | V | server CPU | in V | database, V | generator, V | p50, p95, p99 in ms | statements | writes |
        |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
        """

    /// A row of the table.
    var row: String {
        func format(_ number: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", number) }
        func each(_ count: Int) -> String { format(Double(count) / Double(max(times.count, 1)), 1) }
        let latencies = [0.5, 0.95, 0.99].map { format(times.quantile($0) * 1000, 1) }.joined(separator: ", ")
        let cells = [
            name, format(rate, 0), "\(format(verification, 1)) µs", "\(format(server * verification / 1000, 3)) ms",
            format(server, 2), spent.databaseTime > 0 ? format(cost(spent.databaseTime), 2) : "",
            format(cost(spent.generatorTime), 2), latencies, each(spent.served.statements),
            each(spent.served.writes),
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }
}
