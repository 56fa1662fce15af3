import ArgumentParser
import Foundation
import SimulationSupport

/// Plays simulated worlds; `make simulate` runs it.
@main
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play a deployment on a simulated clock, network and database, decided by a seed.",
        discussion: "Exits with 1 when a promise is broken, and prints the smallest plan of faults that breaks it.")

    @Option(help: "The first seed.")
    var seed: UInt64 = 1
    @Option(help: "How many seeds at most, one after the other.")
    var seeds: Int = .max
    @Option(help: "For how many seconds no further seed is begun.")
    var seconds: Int = 60
    @Option(help: "How many hours each world lasts.")
    var hours = 1.0
    @Option(help: "Who is there: default, quiet or storm.")
    var population = "default"
    @Option(help: "A file with a plan of faults, for one seed.")
    var plan: String?
    @Option(help: "A fault to plant in the server: \(PlantedFault.allCases.map(\.rawValue).joined(separator: ", ")).")
    var planted: String?
    @Flag(help: "Print what happens, for one seed.")
    var story = false

    func run() throws {
        guard ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] == "1" else {
            throw ValidationError(
                "Set SWIFT_DETERMINISTIC_HASHING=1, as scripts/simulate does: a seed decides nothing else.")
        }
        var search = SeedSearch()
        search.hours = hours
        switch population {
        case "default": break
        case "quiet": search.population = .quiet
        case "storm": search.population = .storm
        default: throw ValidationError("--population is default, quiet or storm.")
        }
        if let planted {
            guard let fault = PlantedFault(rawValue: planted) else { throw ValidationError("There is no such fault.") }
            search.planted = fault
        }
        if plan != nil || story { return try playOne(search) }
        print("simulating from seed \(seed), \(hours) hours each, population \(population)")
        let summary = try search.play(from: seed, count: seeds, for: .seconds(seconds))
        print(summary.description)
        guard let found = summary.found else { return }
        print(try search.story(of: found))
        throw ExitCode(1)
    }

    private func playOne(_ search: SeedSearch) throws {
        let plan = try plan.map { path in
            guard let plan = FaultPlan(try String(contentsOfFile: path, encoding: .utf8)) else {
                throw ValidationError("\(path) is no plan: a line is such as “commit 17 writtenUnheard”.")
            }
            return plan
        }
        let world = try SimulatedWorld(
            seed: seed, population: search.population, plan: plan, planted: search.planted)
        let report = try world.run(for: .seconds(hours * 3600))
        print(report.story.joined(separator: "\n"))
        print("trace \(String(report.traceHash, radix: 16)), \(report.plan.faults.count) faults")
        guard let violation = report.violation else { return }
        print("seed \(seed): \(violation)")
        throw ExitCode(1)
    }
}
