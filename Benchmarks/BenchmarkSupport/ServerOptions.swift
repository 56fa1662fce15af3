package import ArgumentParser
import Foundation

/// What all measurements have in common: which servers, on which database.
package struct ServerOptions: ParsableArguments {
    @Option(help: "The program `countersign`. (default: the one beside this program)")
    package var server: String?

    @Option(help: "The folder that the database is made in. (default: the system's folder for temporary files)")
    package var folder: String?

    @Option(help: "The URL of an empty PostgreSQL database. (default: SQLite)")
    package var database: String?

    @Option(help: "The id of PostgreSQL's first process, where its CPU time shall be measured.")
    package var databaseProcess: Int32?

    @Option(help: "How many servers on the database; each request goes to the next of them.")
    package var nodes = 1

    @Option(help: "The processors that the servers run on, as for `taskset`. (default: all)")
    package var serverProcessors: String?

    package init() {}

    package mutating func validate() throws {
        guard nodes == 1 || database != nil, (1...100).contains(nodes) else {
            throw ValidationError("Several nodes need --database: SQLite is one server's alone.")
        }
    }

    /// What the servers run on.
    package var engine: String { database == nil ? "SQLite" : "PostgreSQL" }

    /// Starts the servers, runs something, and stops them.
    ///
    /// - Parameters:
    ///   - arguments: further arguments of `serve`.
    ///   - host: the host in the issuer's name, which is this machine.
    ///   - body: gets the servers, and the costs that no server can avoid.
    package func withServers<Result>(
        _ arguments: [String] = [], as host: String = "127.0.0.1",
        _ body: (Deployment, Unavoidable) async throws -> Result
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
            nodes, as: host, program: program, folder: place, database: database, process: databaseProcess,
            processors: serverProcessors, arguments: arguments)
        defer { deployment.stop() }
        return try await body(deployment, unavoidable)
    }
}
