import ArgumentParser
import BenchmarkSupport
import Foundation

/// What each kind of cycle costs the server, compared with the usual one.
struct MeasureKinds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kinds", abstract: "Measure the kinds of cycles, in turns on one server.")

    @OptionGroup var servers: ServerOptions

    @Option(
        help: """
            How many pairs of each kind work at the same time. A phone derives the key of a PIN for a fifth of a second, \
            so with more of them the kinds would not be measured under the same load.
            """)
    var pairs = 1

    @Option(help: "For how many seconds to measure a kind in each round.")
    var seconds = 3.0

    @Option(help: "In how many rounds the kinds take turns.")
    var rounds = 3

    mutating func validate() throws {
        guard pairs >= 1, seconds > 0, rounds >= 1 else {
            throw ValidationError("There must be pairs, rounds, and some time to measure.")
        }
    }

    mutating func run() async throws {
        // One client alone may not ask for so many codes by default.
        let aims = try await servers.withServers(["--limits-code-asks", "1000000"]) { deployment, unavoidable in
            let load = try await Load(deployment)
            var costs: [Kind: [Double]] = [:]
            var pairs: [(Kind, [Pair])] = []
            for kind in Kind.allCases { pairs.append((kind, try await load.pairs(self.pairs, kind))) }
            for round in 0..<rounds {
                for (kind, pairs) in round.isMultiple(of: 2) ? pairs : pairs.reversed() {
                    let measured = try await load.run(pairs, warmup: .seconds(1), duration: .seconds(seconds))
                    costs[kind, default: []].append(
                        measured.spent.serverTime / Double(max(measured.cycles, 1)) * 1_000_000 / unavoidable.verify)
                }
            }
            try? await load.shutdown()
            return Self.aims(costs.mapValues { $0.sorted()[$0.count / 2] }, on: servers.engine)
        }
        try aims.check()
    }

    private static func aims(_ costs: [Kind: Double], on engine: String) -> [Aim] {
        let usual = costs[.usual] ?? 0
        print("Server CPU a cycle, \(engine), median of the rounds:")
        for kind in Kind.allCases {
            let cost = costs[kind] ?? 0
            print(
                "  \(kind.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0))"
                    + String(format: "%8.1f V %8.2f times the usual", cost, cost / usual))
        }
        return Kind.allCases.filter { $0 != .usual && $0 != .askAndWait }.map { kind in
            .atMost(
                kind == .code || kind == .link ? 2.5 : 1.6, "times", "\(kind.rawValue) to the usual cycle (\(engine))",
                (costs[kind] ?? 0) / usual)
        }
    }
}
