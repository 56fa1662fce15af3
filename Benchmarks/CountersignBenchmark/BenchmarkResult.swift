import BenchmarkSupport
import Encodings
import Foundation

/// The printed result.
struct BenchmarkResult {
    let nodes: Int
    let engine: String
    let pairs: Int
    let measured: Measured
    let unavoidable: Unavoidable
    let commit: String

    private var cyclesPerSecond: Double { Double(measured.cycles) / measured.seconds }
    private var serverPerCycle: Double { measured.serverTime / Double(max(measured.cycles, 1)) * 1000 }
    private var databasePerCycle: Double { measured.databaseTime / Double(max(measured.cycles, 1)) * 1000 }
    private var generatorPerCycle: Double { measured.generatorTime / Double(max(measured.cycles, 1)) * 1000 }
    private var deployment: String { "\(nodes == 1 ? "one node" : "\(nodes) nodes") on \(engine)" }

    /// The maximum cost of a cycle, in verifications on P-256 that were measured in the same run.
    ///
    /// Spec: design 7, *Targets*.
    private var aims: [(of: String, cost: Double, atMost: Double)] {
        func verifications(_ milliseconds: Double) -> Double { milliseconds * 1000 / unavoidable.verify }
        let server = ("server", verifications(serverPerCycle), engine == "SQLite" ? 18.0 : 35.0)
        return measured.databaseTime > 0 ? [server, ("database", verifications(databasePerCycle), 30)] : [server]
    }

    /// Whether all costs are within their targets.
    var reachesAims: Bool { aims.allSatisfy { $0.cost <= $0.atMost } }

    private func quantile(_ step: Step, _ part: Double) -> Double {
        guard let times = measured.times[step], !times.isEmpty else { return 0 }
        return times[min(times.count - 1, Int(Double(times.count) * part))].inSeconds * 1000
    }

    /// The result as text for people.
    var text: String {
        func format(_ number: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", number) }
        func pad(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        let database = measured.databaseTime > 0 ? "database \(format(databasePerCycle, 3)) ms; " : ""
        let steps = Step.allCases.map { step in
            "  \(step.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0))"
                + pad(format(quantile(step, 0.5), 2), 10) + pad(format(quantile(step, 0.99), 2), 10)
        }
        let aims = aims.map { aim in
            "Aim: \(aim.of) at most \(format(aim.atMost, 0)) verifications a cycle; it takes "
                + "\(format(aim.cost, 1)): \(aim.cost <= aim.atMost ? "reached" : "NOT reached")"
        }
        return """
            \(format(cyclesPerSecond, 0)) cycles/s (\(measured.cycles) in \(format(measured.seconds, 1)) s, \
            \(pairs) pairs), \(deployment)
            CPU per cycle: server \(format(serverPerCycle, 3)) ms, of it at least \
            \(format(unavoidable.serverCurvePerCycle / 1000, 3)) ms on the curve; \
            \(database)generator \(format(generatorPerCycle, 3)) ms
            Commits: \(format(measured.commitsPerSecond, 0)) a second, \
            \(format(measured.writesPerCommit, 1)) writes in each, \(format(measured.clashesPerSecond, 1)) clashes; \
            the disk alone syncs \(format(unavoidable.syncsPerSecond, 0)) times a second
            Server memory: \(measured.residentMemory / 1_000_000) MB
            Milliseconds         p50       p99
            \(steps.joined(separator: "\n"))
            One curve operation: sign \(format(unavoidable.sign, 0)), verify \(format(unavoidable.verify, 0)), agree \(format(unavoidable.agree, 0)) µs
            \(aims.joined(separator: "\n"))
            Build \(buildConfiguration), commit \(commit), \(ProcessInfo.processInfo.activeProcessorCount) processors
            """
    }

    /// The result as JSON for programs.
    var json: JSONValue {
        func number(_ value: Double) -> JSONValue { .integer(Int64(value.rounded())) }
        var steps = JSONObject()
        for step in Step.allCases {
            steps[step.rawValue] = .members([
                "p50_us": number(quantile(step, 0.5) * 1000), "p99_us": number(quantile(step, 0.99) * 1000),
            ])
        }
        return .members([
            "engine": .string(engine), "nodes": .integer(Int64(nodes)), "pairs": .integer(Int64(pairs)),
            "cycles": .integer(Int64(measured.cycles)),
            "milliseconds": number(measured.seconds * 1000), "cycles_per_second": number(cyclesPerSecond),
            "server_cpu_us_per_cycle": number(serverPerCycle * 1000),
            "database_cpu_us_per_cycle": number(databasePerCycle * 1000),
            "generator_cpu_us_per_cycle": number(generatorPerCycle * 1000),
            "server_curve_us_per_cycle": number(unavoidable.serverCurvePerCycle),
            "server_resident_bytes": .integer(Int64(measured.residentMemory)), "steps": .object(steps),
            "commits_per_second": number(measured.commitsPerSecond),
            "clashes_per_1000_seconds": number(measured.clashesPerSecond * 1000),
            "writes_per_100_commits": number(measured.writesPerCommit * 100),
            "syncs_per_second": number(unavoidable.syncsPerSecond),
            "curve_ns": .members([
                "sign": number(unavoidable.sign * 1000), "verify": number(unavoidable.verify * 1000),
                "agree": number(unavoidable.agree * 1000),
            ]),
            "reaches_aims": .bool(reachesAims), "build": .string(buildConfiguration), "commit": .string(commit),
            "processors": .integer(Int64(ProcessInfo.processInfo.activeProcessorCount)),
        ])
    }
}
