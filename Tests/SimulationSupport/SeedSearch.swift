import Foundation
import Synchronization

/// Runs simulations with one seed after another on all processors, until the time is up or an invariant is broken.
package struct SeedSearch: Sendable {
    /// The result of a search.
    package struct Summary: Sendable {
        package fileprivate(set) var seeds = 0
        package fileprivate(set) var simulated = Duration.zero
        package fileprivate(set) var took = Duration.zero
        package fileprivate(set) var asked = 0
        package fileprivate(set) var ended = 0
        package fileprivate(set) var signedIn = 0
        package fileprivate(set) var refreshed = 0
        package fileprivate(set) var allowed = 0
        package fileprivate(set) var withdrawn = 0
        package fileprivate(set) var askedByServers = 0
        package fileprivate(set) var givenToServers = 0
        package fileprivate(set) var authorized = 0
        package fileprivate(set) var faults = 0
        package fileprivate(set) var jobs = 0
        /// The first seed that broke an invariant, with its report.
        package fileprivate(set) var found: (seed: UInt64, report: SimulatedWorld.Report)?

        /// A summary in one line.
        package var description: String {
            let seconds = Double(took.milliseconds) / 1000
            let hours = Double(simulated.milliseconds) / 3_600_000
            return String(
                format: "%d seeds, %.1f simulated hours in %.1f s: %.2f hours and %.1f ends of questions a second; ",
                seeds, hours, seconds, hours / max(seconds, 0.001), Double(ended) / max(seconds, 0.001))
                + "\(asked) asked by portals, \(ended) ended, \(signedIn) signed in, \(refreshed) refreshes, "
                + "\(allowed) grants, \(withdrawn) ends of access, \(askedByServers) asked by servers, "
                + "\(givenToServers) given to servers, \(authorized) authorized in detail, \(faults) faults, \(jobs) jobs"
        }
    }

    package var population = SimulatedWorld.Population()
    package var hours = 1.0
    package var planted: PlantedFault?
    package var threads = ProcessInfo.processInfo.activeProcessorCount

    package init() {}

    /// Runs simulations with consecutive seeds.
    ///
    /// - Parameters:
    ///   - first: the first seed.
    ///   - count: the maximum number of seeds.
    ///   - time: how long new simulations are started.
    package func play(from first: UInt64, count: Int = .max, for time: Duration) throws -> Summary {
        let start = ContinuousClock.now
        let state = Mutex((next: 0, summary: Summary()))
        let failure = Mutex<(any Error)?>(nil)
        let isFound = Atomic(false)
        let group = DispatchGroup()
        for _ in 0..<threads {
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                while let seed = state.withLock({ state -> UInt64? in
                    let isOver = state.next >= count || start.duration(to: .now) >= time
                    guard !isOver, !isFound.load(ordering: .relaxed) else { return nil }
                    state.next += 1
                    return first &+ UInt64(state.next - 1)
                }) {
                    do {
                        let report = try world(seed).run(for: .seconds(hours * 3600)) {
                            isFound.load(ordering: .relaxed)
                        }
                        if report.violation != nil { isFound.store(true, ordering: .relaxed) }
                        // A simulation that was stopped does not count.
                        guard report.violation != nil || !isFound.load(ordering: .relaxed) else { return }
                        state.withLock { $0.summary.add(report, seed, hours) }
                    } catch {
                        failure.withLock { $0 = error }
                        isFound.store(true, ordering: .relaxed)
                        return
                    }
                }
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
        group.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
        var summary = state.withLock { $0.summary }
        summary.took = start.duration(to: .now)
        return summary
    }

    private func world(_ seed: UInt64) throws -> SimulatedWorld {
        try SimulatedWorld(seed: seed, population: population, planted: planted)
    }

    /// A report of a broken invariant: the seed, the smallest set of faults that breaks it, and the trace.
    package func story(of found: (seed: UInt64, report: SimulatedWorld.Report)) throws -> String {
        let smallest = try Shrinker.smallest(
            seed: found.seed, for: .seconds(hours * 3600), population: population, found.report, planted: planted)
        guard let smallest, let violation = smallest.report.violation else { return "" }
        let left = smallest.population
        return """
            seed \(found.seed): \(violation)

            \(left.nodes) nodes, \(left.users) users, \(left.portals) portals\(left.hasThief ? ", a thief" : "")\(left.hasThirdParty ? ", a third party" : "")\(left.hasCallCentres ? ", call centres" : "") and these faults are enough (\(smallest.runs) runs):
            \(smallest.report.plan)

            \(smallest.report.story.suffix(80).joined(separator: "\n"))
            """
    }
}

extension SeedSearch.Summary {
    fileprivate mutating func add(_ report: SimulatedWorld.Report, _ seed: UInt64, _ hours: Double) {
        seeds += 1
        simulated += .seconds(hours * 3600)
        asked += report.counts.asked
        ended += report.counts.ended
        signedIn += report.counts.signedIn
        refreshed += report.counts.refreshed
        allowed += report.counts.allowed
        withdrawn += report.counts.withdrawn
        askedByServers += report.counts.askedByServers
        givenToServers += report.counts.givenToServers
        authorized += report.counts.authorized
        faults += report.plan.faults.count
        jobs += report.jobs
        if report.violation != nil, found == nil { found = (seed, report) }
    }
}
