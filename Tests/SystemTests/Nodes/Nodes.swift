import Foundation
import ServerTestSupport
import TestSupport

/// Servers with one database, behind one address.
struct Nodes: Served {
    /// The common URL.
    let url: String
    let watch = ServerWatch()
    let flights = Flights()
    let keepers: [ServerKeeper]
    /// The folder with the bootstrap token, which is the first server's.
    var data: String { keepers[0].data }
    private let balancer: Balancer

    /// The tests take the database away from the servers.
    let mayBeUnavailable = true

    /// Starts servers.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - database: the URL of their database.
    ///   - arguments: further arguments of `serve`.
    init(count: Int = 3, database: String, arguments: [String] = []) async throws {
        let port = FreePort.next()
        url = "http://127.0.0.1:\(port)"
        let arguments = ["--database", database, "--issuer", url] + arguments
        let folders = try (0..<count).map { _ in try TemporaryFolder() }
        let ports = folders.map { _ in FreePort.next() }
        keepers = try zip(folders, ports).map { try ServerKeeper(folder: $0, port: $1, arguments: arguments) }
        try await keepers[0].start()
        for keeper in keepers.dropFirst() {
            // The master key is copied to every node, as an operator does.
            try FileManager.default.createDirectory(atPath: keeper.data, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: "\(keepers[0].data)/master.key", toPath: "\(keeper.data)/master.key")
            try await keeper.start()
        }
        balancer = Balancer(ports: ports)
        try await balancer.listen(on: port)
    }

    /// Runs a body with servers, and stops them.
    static func with(
        count: Int = 3, database: String, arguments: [String] = [], _ body: (Nodes) async throws -> Void
    ) async throws {
        let nodes = try await Nodes(count: count, database: database, arguments: arguments)
        do {
            try await body(nodes)
        } catch {
            for keeper in nodes.keepers { print("last words of a node: \(await keeper.lastWords)") }
            await nodes.stop()
            throw error
        }
        await nodes.stop()
    }

    private func stop() async {
        try? await balancer.stop()
        for keeper in keepers { try? await keeper.stop() }
    }

    func ready() async throws {
        try Task.checkCancellation()
        // There is no single server whose state could be asked for.
        try await Task.sleep(for: .milliseconds(5))
    }

    /// The secrets in the standard error of all servers.
    var leaks: [String] {
        get async throws {
            var leaks: [String] = []
            for keeper in keepers { leaks += try await keeper.leaks.map(\.description) }
            return leaks
        }
    }
}
