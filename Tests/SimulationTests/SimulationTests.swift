import Foundation
import SimulationSupport
import TestSupport
import Testing

/// One after the other: each takes all processors.
@Suite(
    "A simulated world", .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] == "1",
        "SWIFT_DETERMINISTIC_HASHING=1 is not set, as scripts/test sets it: a seed would decide too little"))
struct SimulationTests {
    /// When the first of these began: what they take is left out of the time for the worlds.
    private static let start = ContinuousClock.now

    /// How long all of this may take, in seconds.
    private static let seconds =
        ProcessInfo.processInfo.environment["COUNTERSIGN_SIMULATION_SECONDS"].flatMap { Int($0) } ?? 10
    /// What takes worlds of an hour to be found is looked for in the long list alone.
    private static let plantedFaults = PlantedFault.allCases.filter { $0.hours < 1 || seconds > 60 }

    /// Few who ask often, so that much happens soon; others than portals would only make these worlds longer.
    private static let busy: SimulatedWorld.Population = {
        var population = SimulatedWorld.Population()
        (population.users, population.nodes, population.portals) = (2, 2, 1)
        (population.asksPerHour, population.hasThief, population.rates.commit) = (240, false, 60)
        (population.hasThirdParty, population.hasCallCentres) = (false, false)
        return population
    }()

    init() { Self.begin() }

    static func begin() { _ = start }

    @Test("The same seed twice gives the same trace, another seed another; nothing leaves the thread")
    func replay() throws {
        var hashes: [UInt64] = []
        // In ten minutes of these worlds everything happens that is counted.
        for seed in [6, 6, 12] as [UInt64] {
            let report = try SimulatedWorld(seed: seed).run(for: .seconds(600))
            #expect(!report.hasEscaped)
            let counts = report.counts
            #expect(counts.ended > 0 && counts.signedIn > 0 && counts.redeemed > 0 && counts.refreshed > 0, "\(counts)")
            #expect(counts.askedByServers > 0 && counts.givenToServers > 0 && counts.authorized > 0, "\(counts)")
            hashes.append(report.traceHash)
        }
        #expect(hashes[0] == hashes[1] && hashes[1] != hashes[2])
    }

    @Test("A plan of faults as text is the plan", arguments: ["commit 17 writtenUnheard\nmoment 3 crash", ""])
    func plan(_ text: String) throws {
        #expect(try #require(FaultPlan(text)).description == text)
        #expect(FaultPlan("commit 17 nobodyKnows") == nil)
    }

    @Test("What is wrong on purpose is found, as the promise that it breaks", arguments: plantedFaults)
    func planted(_ fault: PlantedFault) throws {
        var search = SeedSearch()
        (search.planted, search.hours, search.population.rates.commit) = (fault, fault.hours, 30)
        let summary = try search.play(from: 1, count: 64, for: .seconds(600))
        let found = try #require(summary.found)
        let violation = try #require(found.report.violation)
        #expect(fault.invariants.contains(violation.invariant), "\(violation)")
        print("planted fault \(fault): \(summary.seeds) seeds in \(summary.took)")
    }

    @Test("Of many faults the one that is needed is left")
    func smallest() throws {
        var search = SeedSearch()
        (search.planted, search.population, search.hours) = (.replyBeforeCommit, Self.busy, 0.1)
        let found = try #require(try search.play(from: 1, count: 32, for: .seconds(300)).found)
        let report = found.report
        let smallest = try #require(
            try Shrinker.smallest(
                seed: found.seed, for: .seconds(360), population: search.population, report,
                planted: .replyBeforeCommit, most: 12))
        #expect(smallest.report.plan.faults.count < report.plan.faults.count)
        #expect(smallest.report.plan.faults.contains { $0.fault == .diesAfter })
        #expect(smallest.report.violation?.invariant == report.violation?.invariant)
    }

    @Test("Seeds, each another hour with faults: every promise holds, and in the end nothing is left over")
    func worlds() throws {
        let first = SeededGenerator.announced(by: "simulated world").seed
        // One is played in any case.
        let left = max(.seconds(1), .seconds(Self.seconds) - Self.start.duration(to: .now))
        let search = SeedSearch()
        let summary = try search.play(from: first, for: left)
        print("simulated world: \(summary.description)")
        if let found = summary.found {
            // The search for the smallest set of faults takes minutes.
            print("simulated world: seed \(found.seed): \(found.report.violation.map(\.description) ?? "")")
            Issue.record("\(try search.story(of: found))")
        }
    }
}
