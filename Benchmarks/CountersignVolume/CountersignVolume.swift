import ArgumentParser
import BenchmarkSupport
import CountersignCore
import Foundation
import StorageTestSupport
import TestSupport

/// Compares the cost of a cycle in a full database with the cost in an empty one.
///
/// Spec: docs/decisions/0036-volume-measured-in-process.md.
@main
struct CountersignVolume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countersign-volume", abstract: "Measure a cycle in a full database against an empty one.",
        discussion: """
            Makes two databases by real operations: users, devices, challenges that were asked, opened, answered and \
            told of. In one of them every row is copied many times, under other ids. Then cycles are run in both, in \
            turns, in this process and without HTTP, for users anywhere in the database. On PostgreSQL when \
            COUNTERSIGN_TEST_POSTGRES says where it is, as scripts/with-postgres does, otherwise on SQLite.
            """)

    /// The largest allowed ratio of the two costs.
    private static let limit = 1.25

    @Option(help: "How many users there shall be; three devices for two of them, five challenges for each.")
    var users = 1_000_000

    @Option(help: "How many cycles to measure in each of the two databases.")
    var cycles = 2000

    mutating func validate() throws {
        guard users >= 2 * Population.users, cycles >= 100 else {
            throw ValidationError("There must be \(2 * Population.users) users or more, and 100 cycles or more.")
        }
    }

    mutating func run() async throws {
        var empty = try await Population()
        var full = try await Population()
        let begin = ContinuousClock.now
        try await full.copy(to: users) { done in
            print("  \(done) users after \(Int((ContinuousClock.now - begin).inSeconds)) s")
        }
        let seconds = Int((ContinuousClock.now - begin).inSeconds)
        print("\(Engine.chosen), \(buildConfiguration) build: \(try await full.counts()), loaded in \(seconds) s")
        var costs = (empty: Cost(), full: Cost())
        let turn = 50
        // The first turns only fill caches.
        for round in 0...(cycles / turn) {
            let one = try await empty.cost(of: turn)
            let other = try await full.cost(of: turn)
            if round > 0 { costs = (costs.empty + one, costs.full + other) }
        }
        let ratio = costs.full.processor / costs.empty.processor
        print("a cycle in an empty database: \(costs.empty.text)")
        print("a cycle in the full database: \(costs.full.text)")
        print(String(format: "It costs %.2f times as much of the processor; %.2f are allowed.", ratio, Self.limit))
        guard ratio < Self.limit else { throw ExitCode.failure }
    }
}
