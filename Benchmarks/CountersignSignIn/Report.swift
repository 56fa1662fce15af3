import BenchmarkSupport
import Foundation

/// What was measured, beside what the project wants.
struct Report: Sendable {
    /// The time of one verification for which the limits are set, in microseconds.
    private static let verification = 52.0

    let run: Run
    let unavoidable: Unavoidable
    let machine: Machine

    /// The limits; those in time grow with V, which is measured anew for each figure.
    ///
    /// Where the project names no database, its limits are those on SQLite: on PostgreSQL all processors are the
    /// database's as well. Those of cycles are for both.
    func aims(on engine: String) -> [Aim] {
        func rate(_ limit: Double, _ kind: Run.Kind) -> Aim {
            let figure = run.figures[kind]
            let scale = (figure?.verification ?? Self.verification) / Self.verification
            return .atLeast(limit / scale, "a second", "\(kind.rawValue) (\(engine))", figure?.rate ?? 0)
        }
        let cycle = run.figures[.backchannel]?.server ?? 0
        let common = [
            rate(600, .backchannel),
            Aim.atMost(1500 / Self.verification, "V", "server CPU of a CIBA cycle (\(engine))", cycle),
            .atLeast(10_000, "tokens", "tokens introspected (\(engine))", Double(run.introspected)),
            .atMost(15, "KiB", "identifier page with its CSS and scripts", Double(run.weight?.total ?? 0) / 1024),
        ]
        guard engine == "SQLite" else { return [rate(800, .exchange), rate(800, .refresh)] + common }
        let server = run.figures[.exchange]?.server ?? 0
        return [
            rate(2000, .exchange),
            .atMost(350 / Self.verification, "V", "server CPU of a code exchange (\(engine))", server),
            rate(1200, .webExchange), rate(2000, .refresh), rate(8000, .introspection), rate(5000, .page),
        ] + common
    }

    /// The report as Markdown, without the aims.
    func text(on servers: ServerOptions, people: Int, connections: Int) -> String {
        func format(_ number: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", number) }
        let figures = Run.Kind.allCases.compactMap { run.figures[$0] }
        let left = figures.map(\.left).reduce(0, +)
        let memory = figures.map(\.spent.residentMemory).max() ?? 0
        let nodes = servers.nodes == 1 ? "" : ", \(servers.nodes) nodes"
        let commits = run.figures[.exchange]?.spent
        return """
            Signing in on \(servers.engine)\(nodes): \(people) sessions, \(connections) connections
            \(machine.text), \(Date.now.formatted(.iso8601.year().month().day()))
            V is one verification on P-256 while all processors verify, before and after each row; alone, at the \
            beginning, it takes \(format(unavoidable.verify, 1)) µs. The limits are those for \
            \(format(Self.verification, 0)) µs, scaled.

            \(Figure.heading)
            \(figures.map(\.row).joined(separator: "\n"))

            \(figures.map { "\($0.name): \($0.times.count) in \(format($0.spent.seconds, 1)) s" }
                .joined(separator: "; "))
            Durable commits while codes were exchanged: \(format(commits?.commitsPerSecond ?? 0, 0)) a second, \
            \(format(commits?.writesPerCommit ?? 0, 1)) writes in each; one page synced alone takes \
            \(format(1_000_000 / max(unavoidable.syncsPerSecond, 1), 0)) µs
            The oldest code was \(format(run.oldestCode, 1)) s old when it was redeemed; \(left) were too old and not sent
            \(run.weight?.text ?? "")
            Server memory: \(memory / 1_000_000) MB at most
            """
    }
}
