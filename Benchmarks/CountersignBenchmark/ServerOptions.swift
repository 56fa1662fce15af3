import ArgumentParser
import BenchmarkSupport
import Foundation

/// What all measurements have in common: which servers, on which database.
struct ServerOptions: ParsableArguments {
    @Option(help: "The program `countersign`. (default: the one beside this program)")
    var server: String?

    @Option(help: "The folder that the database is made in. (default: the system's folder for temporary files)")
    var folder: String?

    @Option(help: "The URL of an empty PostgreSQL database. (default: SQLite)")
    var database: String?

    @Option(help: "The id of PostgreSQL's first process, where its CPU time shall be measured.")
    var databaseProcess: Int32?

    @Option(help: "How many servers on the database; each request goes to the next of them.")
    var nodes = 1

    @Option(help: "The processors that the servers run on, as for `taskset`. (default: all)")
    var serverProcessors: String?

    mutating func validate() throws {
        guard nodes == 1 || database != nil, (1...100).contains(nodes) else {
            throw ValidationError("Several nodes need --database: SQLite is one server's alone.")
        }
    }

    /// What the servers run on.
    var engine: String { database == nil ? "SQLite" : "PostgreSQL" }

    /// Starts the servers, runs something, and stops them.
    ///
    /// - Parameters:
    ///   - arguments: further arguments of `serve`.
    ///   - body: gets the servers, and the costs that no server can avoid.
    func withServers<Result>(
        _ arguments: [String] = [], _ body: (Deployment, Unavoidable) async throws -> Result
    ) async throws -> Result {
        let place = (folder.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory)
            .appending(path: "countersign-benchmark-\(UInt32.random(in: 0...(.max)))")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let unavoidable = Unavoidable(folder: place)
        let program =
            server
            ?? URL(filePath: Bundle.main.executablePath ?? CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "countersign").path
        let deployment = try Deployment(
            nodes, program: program, folder: place, database: database, process: databaseProcess,
            processors: serverProcessors, arguments: arguments)
        defer { deployment.stop() }
        return try await body(deployment, unavoidable)
    }
}

/// A limit that the project has set itself, and what was measured.
struct Aim {
    /// What is limited, such as "server CPU a cycle".
    let name: String
    /// The figure as text, with its unit.
    let figure: String
    /// The limit as text, with its unit.
    let limit: String
    let isReached: Bool

    /// An aim that a figure must not exceed.
    static func atMost(_ limit: Double, _ unit: String, _ name: String, _ figure: Double) -> Aim {
        Aim(
            name: name, figure: "\(short(figure)) \(unit)", limit: "at most \(short(limit)) \(unit)",
            isReached: figure <= limit)
    }

    /// An aim that a figure must reach.
    static func atLeast(_ limit: Double, _ unit: String, _ name: String, _ figure: Double) -> Aim {
        Aim(
            name: name, figure: "\(short(figure)) \(unit)", limit: "at least \(short(limit)) \(unit)",
            isReached: figure >= limit)
    }

    private static func short(_ number: Double) -> String {
        abs(number) >= 100 ? String(format: "%.0f", number) : String(format: "%.2f", number)
    }

    /// One line, which `scripts/bench` gathers.
    var text: String { "Aim: \(name): \(figure), \(limit): \(isReached ? "reached" : "NOT reached")" }
}

extension [Aim] {
    /// Prints the aims; ends the program when one is missed.
    func check() throws {
        for aim in self { print(aim.text) }
        if !allSatisfy(\.isReached) { throw ExitCode(missedAim) }
    }
}
