import BenchmarkSupport
import Encodings
import Foundation

/// What cycles cost, and how long they take.
struct CycleResult {
    let servers: ServerOptions
    let pairs: Int
    let asksAndWaits: Bool
    let measured: Measured
    let unavoidable: Unavoidable
    let machine: Machine

    private var spent: Spent { measured.spent }
    private var cyclesPerSecond: Double { Double(measured.cycles) / spent.seconds }
    private func perCycle(_ total: Double) -> Double { total / Double(max(measured.cycles, 1)) }
    /// The CPU time of a cycle, in milliseconds.
    private var serverPerCycle: Double { perCycle(spent.serverTime) * 1000 }
    private var databasePerCycle: Double { perCycle(spent.databaseTime) * 1000 }
    private var generatorPerCycle: Double { perCycle(spent.generatorTime) * 1000 }
    private func verifications(_ milliseconds: Double) -> Double { milliseconds * 1000 / unavoidable.verify }
    private var work: String {
        let nodes = servers.nodes == 1 ? "" : ", \(servers.nodes) nodes"
        return "\(servers.engine)\(nodes), \(asksAndWaits ? "ask and wait" : "four requests"), \(pairs) pairs"
    }

    /// What the project wants of these cycles.
    ///
    /// The aims in time are for a machine on which a verification takes 35 or 36 µs; on others they grow with it.
    var aims: [Aim] {
        let (server, database) = (verifications(serverPerCycle), verifications(databasePerCycle))
        let generator = Aim.atMost(20, "V", "generator CPU a cycle (\(work))", verifications(generatorPerCycle))
        if pairs == 1 {
            let limit = 2 * unavoidable.verify / 35
            return [.atMost(limit, "ms", "a cycle, median (\(work))", quantile(.cycle, 0.5))]
        }
        if servers.engine == "SQLite" {
            let rate = (asksAndWaits ? 1400 : 1300) * 35 / unavoidable.verify
            return [
                .atMost(asksAndWaits ? 18 : 20, "V", "server CPU a cycle (\(work))", server),
                .atLeast(rate, "cycles/s", "rate (\(work))", cyclesPerSecond), generator,
            ]
        }
        return [
            .atMost(35, "V", "server CPU a cycle (\(work))", server),
            .atMost(30, "V", "database CPU a cycle (\(work))", database),
            .atLeast(600 * 36 / unavoidable.verify, "cycles/s", "rate (\(work))", cyclesPerSecond), generator,
        ]
    }

    private func quantile(_ step: Step, _ part: Double) -> Double {
        guard let times = measured.times[step], !times.isEmpty else { return 0 }
        return times[min(times.count - 1, Int(Double(times.count) * part))].inSeconds * 1000
    }

    /// The result as text for people, without the aims.
    var text: String {
        func format(_ number: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", number) }
        func pad(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        func cost(_ milliseconds: Double) -> String {
            "\(format(milliseconds, 3)) ms (\(format(verifications(milliseconds), 1)) V)"
        }
        let database = spent.databaseTime > 0 ? "database \(cost(databasePerCycle)); " : ""
        let steps = Step.allCases.map { step in
            "  \(step.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0))"
                + [0.5, 0.95, 0.99].map { pad(format(quantile(step, $0), 2), 10) }.joined()
        }
        let served = spent.served
        return """
            \(format(cyclesPerSecond, 0)) cycles/s (\(measured.cycles) in \(format(spent.seconds, 1)) s): \(work)
            \(machine.text)
            CPU a cycle: server \(cost(serverPerCycle)), of it at least \
            \(cost(unavoidable.serverCurvePerCycle / 1000)) on the curve; \
            \(database)generator \(cost(generatorPerCycle))
            A cycle: \(format(perCycle(Double(served.requests)), 1)) requests, \
            \(format(perCycle(Double(served.statements)), 1)) statements with those of transactions, \
            \(format(perCycle(Double(served.writes)), 1)) writes
            Commits: \(format(spent.commitsPerSecond, 0)) a second, \
            \(format(spent.writesPerCommit, 1)) writes in each, \(served.clashes) clashes; \
            one page synced alone takes \(format(1_000_000 / max(unavoidable.syncsPerSecond, 1), 0)) µs
            Server memory: \(spent.residentMemory / 1_000_000) MB
            Milliseconds         p50       p95       p99
            \(steps.joined(separator: "\n"))
            One curve operation: sign \(format(unavoidable.sign, 0)), verify \(format(unavoidable.verify, 0)) (V), \
            agree \(format(unavoidable.agree, 0)) µs
            """
    }

    /// The result as JSON for programs.
    var json: JSONValue {
        func number(_ value: Double) -> JSONValue { .integer(Int64(value.rounded())) }
        var steps = JSONObject()
        for step in Step.allCases {
            steps[step.rawValue] = .members([
                "p50_us": number(quantile(step, 0.5) * 1000), "p95_us": number(quantile(step, 0.95) * 1000),
                "p99_us": number(quantile(step, 0.99) * 1000),
            ])
        }
        return .members([
            "engine": .string(servers.engine), "nodes": .integer(Int64(servers.nodes)), "pairs": .integer(Int64(pairs)),
            "cycles": .integer(Int64(measured.cycles)),
            "milliseconds": number(spent.seconds * 1000), "cycles_per_second": number(cyclesPerSecond),
            "server_cpu_us_per_cycle": number(serverPerCycle * 1000),
            "database_cpu_us_per_cycle": number(databasePerCycle * 1000),
            "generator_cpu_us_per_cycle": number(generatorPerCycle * 1000),
            "server_curve_us_per_cycle": number(unavoidable.serverCurvePerCycle),
            "server_resident_bytes": .integer(Int64(spent.residentMemory)), "steps": .object(steps),
            "commits_per_second": number(spent.commitsPerSecond),
            "clashes": .integer(Int64(spent.served.clashes)),
            "requests": .integer(Int64(spent.served.requests)),
            "statements": .integer(Int64(spent.served.statements)),
            "writes_per_100_commits": number(spent.writesPerCommit * 100),
            "syncs_per_second": number(unavoidable.syncsPerSecond),
            "curve_ns": .members([
                "sign": number(unavoidable.sign * 1000), "verify": number(unavoidable.verify * 1000),
                "agree": number(unavoidable.agree * 1000),
            ]),
            "reaches_aims": .bool(aims.allSatisfy(\.isReached)), "build": .string(buildConfiguration),
            "commit": .string(machine.commit), "processors": .integer(Int64(machine.processors)),
        ])
    }
}
