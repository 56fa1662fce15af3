import BenchmarkSupport
import Foundation
import Synchronization

/// The servers under test, which share one database and take requests in turns.
final class Deployment: Sendable {
    /// Their one issuer.
    let issuer: String
    /// The operator's token.
    let token: String
    private let nodes: [ServerUnderTest]
    private let urls: [String]
    private let database: MeasuredProcess?
    private let next = Atomic<Int>(0)

    /// Starts servers.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - program: the program's path.
    ///   - folder: where their data folders are made.
    ///   - database: the URL of an empty database; nil for SQLite in the data folder.
    ///   - process: the process of the database, whose use of the machine counts, too.
    init(_ count: Int, program: String, folder: URL, database: String?, process: Int32?) throws {
        let ports = try (0..<count).map { _ in try ServerUnderTest.freePort }
        urls = ports.map { "http://127.0.0.1:\($0)" }
        issuer = urls[0]
        let arguments = ["--issuer", issuer] + (database.map { ["--database", $0] } ?? [])
        let first = folder.appending(path: "data")
        var nodes = [
            try ServerUnderTest(program: program, data: first, port: ports[0], arguments: arguments)
        ]
        do {
            guard let token = nodes[0].token else {
                throw ServerUnderTest.Unusable(description: "The server had started before: the database is not new.")
            }
            self.token = token
            for port in ports.dropFirst() {
                let data = folder.appending(path: "data-\(port)")
                try FileManager.default.createDirectory(
                    at: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                try FileManager.default.copyItem(
                    at: first.appending(path: "master.key"), to: data.appending(path: "master.key"))
                nodes.append(try ServerUnderTest(program: program, data: data, port: port, arguments: arguments))
            }
        } catch {
            for node in nodes { node.stop() }
            throw error
        }
        self.nodes = nodes
        self.database = process.map(MeasuredProcess.init(id:))
    }

    /// The URL of the server whose turn it is.
    var url: String {
        urls[next.wrappingAdd(1, ordering: .relaxed).oldValue % urls.count]
    }

    /// Ends them.
    func stop() {
        for node in nodes { node.stop() }
    }

    /// The CPU time they have used together, in seconds.
    var processorTime: Double { nodes.map(\.usage.processorTime).reduce(0, +) }

    /// The CPU time the processes of the database have used, in seconds; 0 for a database in the server.
    var databaseTime: Double { database?.processorTimeWithChildren ?? 0 }

    /// How much they have committed together, when they last told.
    var committed: Committed {
        nodes.map(\.committed).reduce(into: Committed()) { sum, node in
            sum.commits += node.commits
            sum.writes += node.writes
            sum.clashes += node.clashes
            sum.at = node.at
        }
    }

    /// The memory the largest of them has in use, in bytes.
    var residentMemory: Int { nodes.map(\.usage.residentMemory).max() ?? 0 }
}
