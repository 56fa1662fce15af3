import Foundation
import Synchronization

/// The servers under test, which share one database and get requests in turn.
package final class Deployment: Sendable {
    /// The issuer of all servers.
    package let issuer: String
    /// The operator's token.
    package let token: String
    private let nodes: [ServerUnderTest]
    /// The servers' ports.
    package let ports: [Int]
    private let database: MeasuredProcess?
    private let next = Atomic<Int>(0)

    /// Starts servers.
    ///
    /// - Parameters:
    ///   - count: the number of servers.
    ///   - host: the host in the issuer's name, which is this machine.
    ///   - program: the path of the program.
    ///   - folder: the folder for their data folders.
    ///   - database: the URL of an empty database; nil for SQLite in the data folder.
    ///   - process: the id of the database's process, whose CPU time is measured too.
    ///   - processors: the processors for the servers; nil for all.
    ///   - more: further arguments of `serve`.
    init(
        _ count: Int, as host: String, program: String, folder: URL, database: String?, process: Int32?,
        processors: String?,
        arguments more: [String]
    ) throws {
        let ports = try (0..<count).map { _ in try ServerUnderTest.freePort }
        self.ports = ports
        issuer = "http://\(host):\(ports[0])"
        let arguments = ["--issuer", issuer] + (database.map { ["--database", $0] } ?? []) + more
        let first = folder.appending(path: "data")
        var nodes = [
            try ServerUnderTest(
                program: program, data: first, port: ports[0], arguments: arguments, processors: processors)
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
                nodes.append(
                    try ServerUnderTest(
                        program: program, data: data, port: port, arguments: arguments, processors: processors))
            }
        } catch {
            for node in nodes { node.stop() }
            throw error
        }
        self.nodes = nodes
        self.database = process.map(MeasuredProcess.init(id:))
    }

    /// The URL of the next server in turn.
    package var url: String {
        "http://127.0.0.1:\(ports[next.wrappingAdd(1, ordering: .relaxed).oldValue % ports.count])"
    }

    func stop() {
        for node in nodes { node.stop() }
    }

    /// The CPU time of all servers together, in seconds.
    package var processorTime: Double { nodes.map(\.usage.processorTime).reduce(0, +) }

    /// The CPU time of the database's processes, in seconds; 0 for a database within the server.
    package var databaseTime: Double { database?.processorTimeWithChildren ?? 0 }

    /// What all servers together have done until now.
    package var served: Served {
        get async throws {
            var sum = Served()
            for node in nodes { sum = sum + (try await node.served) }
            return sum
        }
    }

    /// The largest resident memory of a server, in bytes.
    package var residentMemory: Int { nodes.map(\.usage.residentMemory).max() ?? 0 }
}
