import CountersignCore
import CountersignStorage
import Foundation
import StorageTestSupport
import Testing

/// A database with an engine that reaches it through a relay, and one that reaches it directly.
struct Relayed: Sendable {
    static let insert = SQLStatement("INSERT INTO users (id, created_at) VALUES ($1, 0)")

    let world: World
    let database: PostgresDatabase
    let relay: Relay
    let engine: PostgresEngine

    /// Runs something and ends the relay.
    static func with<Result: Sendable>(_ body: (Relayed) async throws -> Result) async throws -> Result {
        let world = try await World(.postgresql)
        let database = try #require(world.postgres)
        let relay = try Relay(to: try database.port)
        defer { relay.stop() }
        let engine = try await database.engine(port: relay.port, hub: ChangeHub(time: world.time))
        return try await body(Relayed(world: world, database: database, relay: relay, engine: engine))
    }

    /// Makes a user by this id; tells how often the transaction ran.
    @discardableResult
    func makeUser(_ id: String) async throws -> Int {
        let runs = Counter()
        try await engine.write { connection in
            runs.count()
            try connection.send(Self.insert, [.text(id)])
            return ((), changes: [.outbox(.mail)])
        }
        return runs.value
    }
}
