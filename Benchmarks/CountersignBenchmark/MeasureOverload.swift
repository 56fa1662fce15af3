import ArgumentParser
import BenchmarkSupport
import Countersign
import Foundation

/// What becomes of a server that is asked for more than it can do.
struct MeasureOverload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "overload", abstract: "Measure a server at its peak, and then under a multiple of that load.",
        discussion: """
            First portals and phones work one cycle after the other, with all users in turn: their rate is the peak. \
            Then cycles begin at a fixed rate, whatever became of those before. A portal that is refused gives up; \
            everything else that is refused is sent again, as the SDK and a good portal do.
            """)

    @OptionGroup var servers: ServerOptions

    @Option(help: "How many cycles are under way at a time while the peak is measured.")
    var pairs = 32

    @Option(help: "How many users there are; one is asked only when no cycle of theirs is under way.")
    var users = 3000

    @Option(help: "How many times the peak is asked for.")
    var times = 2.0

    @Option(help: "For how many seconds the peak is measured, and then the overload.")
    var seconds = 15.0

    mutating func run() async throws {
        let aims = try await servers.withServers { deployment, _ in
            let load = try await Load(deployment)
            let all = try await load.pairs(max(users, pairs), .usual)
            let flood = Flood(all, load.exchanges)
            let rate = try await flood.peak(of: pairs, seconds: seconds)
            let result = try await flood.run(rate: rate * times, seconds: seconds, on: deployment)
            let lost = try await flood.lost()
            try? await load.shutdown()
            print(result.text(peak: rate, on: servers.engine))
            return [
                Aim.atLeast(0.9, "of the peak", "cycles under overload (\(servers.engine))", result.rate / rate),
                .atMost(1, "s", "p99 of accepted requests under overload", result.exchanges.accepted.quantile(0.99)),
                .atMost(512, "MB", "memory under overload", Double(result.memory) / 1e6),
                .atMost(0, "answers", "acknowledged and lost under overload", Double(lost)),
            ]
        }
        try aims.check()
    }
}
