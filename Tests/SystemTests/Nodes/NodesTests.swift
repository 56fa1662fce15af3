import AsyncHTTPClient
import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// Three real servers on a real PostgreSQL, while machines fail and portals and phones work.
@Suite("Whatever ends, nothing acknowledged is lost and nothing ends twice", .serialized)
struct NodesTests {
    /// How long portals and phones work after the last fault, in seconds; the whole time is that of the kill test.
    private static let rest = 4.0

    @Test("kill -9 of one node after the other")
    func killedNodes() async throws {
        try await play { nodes, server, settings in
            var random = SeededGenerator(seed: settings.seed, of: 3000)
            let end = ContinuousClock.now + .seconds(settings.seconds)
            while ContinuousClock.now < end {
                let keeper = try #require(nodes.keepers.randomElement(using: &random))
                // The moment is random, so there is nothing to wait for.
                try await Task.sleep(for: .seconds(Double.random(in: 0.2...2, using: &random)))
                try await keeper.kill()
                try await keeper.start()
            }
        }
    }

    @Test("The database crashes and starts again")
    func restartedDatabase() async throws {
        try await play { nodes, servers, settings in
            var random = SeededGenerator(seed: settings.seed, of: 3001)
            let end = ContinuousClock.now + .seconds(settings.seconds)
            while ContinuousClock.now < end {
                try await Task.sleep(for: .seconds(Double.random(in: 1...3, using: &random)))
                try servers[0].end()
                try await Task.sleep(for: .seconds(Double.random(in: 0...2, using: &random)))
                try servers[0].start()
            }
            try await Task.sleep(for: .seconds(Self.rest))
        }
    }

    @Test("The database is lost and its synchronous replica takes over")
    func promotedReplica() async throws {
        try await play(replicas: 1) { nodes, servers, settings in
            var random = SeededGenerator(seed: settings.seed, of: 3002)
            try await Task.sleep(for: .seconds(settings.seconds / 2 + Double.random(in: 0...1, using: &random)))
            try servers[0].end()
            try servers[1].promote()
            try await Task.sleep(for: .seconds(Self.rest))
        }
    }

    /// Runs portals and phones on three nodes during faults, and checks that everything is as acknowledged.
    private func play(
        replicas: Int = 0,
        _ happening: @escaping @Sendable (Nodes, [PostgresServer], KillSettings) async throws -> Void
    ) async throws {
        let settings = KillSettings()
        print("nodes test: COUNTERSIGN_SEED=\(settings.seed)")
        var servers = [try PostgresServer()]
        try servers[0].sql("CREATE DATABASE countersign", in: "postgres")
        if replicas > 0 { servers.append(try PostgresServer(replicaOf: servers[0])) }
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        let database = "postgres://countersign@\(hosts)/countersign?target_session_attrs=read-write"
        let http = PersistentCaller.makeClient()
        let receiver = CallbackReceiver(random: SeededGenerator(seed: settings.seed, of: 1000))
        let folder = try TemporaryFolder()
        let result = await Result {
            try await receiver.listening { [servers] port in
                try await Nodes.with(database: database) { nodes in
                    let scene = try await Scene(
                        keeper: nodes, data: nodes.data, http: http, receiver: receiver, port: port, folder: folder)
                    try await scene.play(settings) { try await happening(nodes, servers, settings) }
                    let last = try #require(servers.last)
                    try await scene.settle { state in
                        Int(try last.sql("SELECT count(*) FROM outbox WHERE state = '\(state)'")) ?? -1
                    }
                    try await Inspector(caller: scene.caller).inspectAll()
                    await report(scene)
                    await scene.verify(settings)
                    #expect(try await nodes.leaks == [])
                    #expect(try last.faults() == [])
                }
            }
        }
        try await http.shutdown()
        try result.get()
    }

    private func report(_ scene: Scene) async {
        let ledger = scene.ledger
        let ends = await Dictionary(grouping: ledger.ends.values, by: \.state).mapValues(\.count)
        print(
            """
            nodes test: \(await ledger.asked.count) asked, \(await ledger.answers) answers acknowledged; ends \
            \(ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")); callbacks \
            \(scene.receiver.callbacks.count) distinct / \(scene.receiver.total) in total
            """)
    }
}
