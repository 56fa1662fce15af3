/// Finds the smallest population and the fewest faults with which an invariant is still broken.
package struct Shrinker {
    /// The smallest run that was found.
    package struct Smallest: Sendable {
        package let population: SimulatedWorld.Population
        package let report: SimulatedWorld.Report
        package let runs: Int
    }

    private let seed: UInt64
    private let time: Duration
    private let fault: PlantedFault?
    private let invariant: Int
    private let most: Int
    private var runs = 0

    /// Reduces the faults and the population of a run as long as the same invariant is broken.
    ///
    /// - Parameters:
    ///   - seed: the seed of the run.
    ///   - time: the length of the run.
    ///   - population: the population of the run.
    ///   - report: the report of the run; without a violation, nil is returned.
    ///   - fault: the planted defect.
    ///   - most: the maximum number of runs.
    package static func smallest(
        seed: UInt64, for time: Duration, population: SimulatedWorld.Population, _ report: SimulatedWorld.Report,
        planted fault: PlantedFault? = nil, most: Int = 200
    ) throws -> Smallest? {
        guard let violation = report.violation else { return nil }
        var shrinker = Shrinker(
            seed: seed, time: time, fault: fault, invariant: violation.invariant, most: most)
        return try shrinker.shrink(Smallest(population: population, report: report, runs: 0))
    }

    private init(seed: UInt64, time: Duration, fault: PlantedFault?, invariant: Int, most: Int) {
        self.seed = seed
        self.time = time
        self.fault = fault
        self.invariant = invariant
        self.most = most
    }

    private mutating func shrink(_ first: Smallest) throws -> Smallest {
        var smallest = first
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            if let found = try withFewerFaults(smallest) { (smallest, isSmaller) = (found, true) }
            for population in smallest.population.smaller {
                guard let found = try run(population, smallest.report.plan) else { continue }
                (smallest, isSmaller) = (found, true)
                break
            }
        }
        return Smallest(population: smallest.population, report: smallest.report, runs: runs)
    }

    /// Leaves out a half of the faults, then a quarter, down to single faults.
    private mutating func withFewerFaults(_ first: Smallest) throws -> Smallest? {
        var smallest: Smallest?
        var plan = first.report.plan
        var size = plan.faults.count
        while size > 0 {
            var start = 0
            while start < plan.faults.count {
                var fewer = plan
                fewer.faults.removeSubrange(start..<min(start + size, plan.faults.count))
                if let found = try run(first.population, fewer) {
                    // Faults that no longer happened are removed, too.
                    (smallest, plan) = (found, found.report.plan)
                } else {
                    start += size
                }
            }
            size /= 2
        }
        return smallest
    }

    private mutating func run(_ population: SimulatedWorld.Population, _ plan: FaultPlan) throws -> Smallest? {
        guard runs < most else { return nil }
        runs += 1
        let report = try SimulatedWorld(seed: seed, population: population, plan: plan, planted: fault).run(for: time)
        guard report.violation?.invariant == invariant else { return nil }
        return Smallest(population: population, report: report, runs: runs)
    }
}
