import ArgumentParser
import BenchmarkSupport
import Countersign
import Encodings
import Foundation

/// Measures a server under load: full cycles from the request to the reported outcome, with real cryptography and a
/// real disk.
@main
struct CountersignBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countersign-benchmark", abstract: "Measure a server under load.",
        discussion: """
            Starts the program `countersign serve` on a fresh database, once or several times, and drives it from \
            this process: pairs of a portal, which asks over HTTP and waits by long poll, and a phone, which is the \
            SDK. Build both for release.
            """)

    @Option(help: "How many pairs of a portal and a phone work at the same time.")
    var pairs = 32

    @Option(help: "For how many seconds to work before measuring.")
    var warmup = 3.0

    @Option(help: "For how many seconds to measure.")
    var seconds = 10.0

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

    @Flag(help: "Ask and wait in one request, instead of asking and then waiting by long poll.")
    var askAndWait = false

    @Flag(help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard nodes == 1 || database != nil, (1...100).contains(nodes) else {
            throw ValidationError("Several nodes need --database: SQLite is one server's alone.")
        }
        guard (1...10_000).contains(pairs), warmup >= 0, seconds > 0 else {
            throw ValidationError("There must be 1 to 10,000 pairs and some time to measure.")
        }
    }

    mutating func run() async throws {
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
            nodes, program: program, folder: place, database: database, process: databaseProcess)
        defer { deployment.stop() }
        let load = try await Load(deployment, pairs: pairs, asksAndWaits: askAndWait)
        let measured = try await load.run(warmup: .seconds(warmup), duration: .seconds(seconds))
        let result = BenchmarkResult(
            nodes: nodes, engine: database == nil ? "SQLite" : "PostgreSQL", pairs: pairs, measured: measured,
            unavoidable: unavoidable, commit: Self.commit)
        print(json ? String(decoding: result.json.encoded, as: UTF8.self) : result.text)
        if !result.reachesAims { throw ExitCode(missedAim) }
    }

    /// The checked-out commit, with a mark if files differ from it.
    private static var commit: String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "describe", "--always", "--dirty"]
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil, let output = try? pipe.fileHandleForReading.readToEnd() else {
            return "unknown"
        }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
