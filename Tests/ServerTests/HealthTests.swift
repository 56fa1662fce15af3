import Encodings
import GRDB
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Whether the server lives, and whether it can work")
struct HealthTests {
    @Test("A server that works says so to everybody", arguments: [("/healthz", "ok"), ("/readyz", "ready")])
    func works(_ path: String, _ status: String) async throws {
        try await TestServer.with { server in
            let reply = try await server.send(.GET, path)
            #expect(reply.status == 200)
            #expect(reply.json == ["status": .string(status)])
        }
    }

    @Test("A server that cannot read its database lives and is not ready; callers get 500 without the reason")
    func unusableDatabase() async throws {
        try await TestDatabases.$isSQLite.withValue(true) { try await unusable() }
    }

    private func unusable() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            let database = try DatabaseQueue(path: "\(scene.server.dataFolder)/countersign.sqlite")
            func rename(_ from: String, _ to: String) async throws {
                try await database.writeWithoutTransaction {
                    try $0.execute(sql: "ALTER TABLE \(from) RENAME TO \(to)")
                }
            }
            try await rename("clients", "clients_away")
            expectRefusal(try await scene.server.send(.GET, "/readyz"), 503, "unavailable")
            #expect(try await scene.server.send(.GET, "/healthz").status == 200)
            let reply = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)")
            expectRefusal(reply, 500, "internal_error")
            let text = String(decoding: reply.body, as: UTF8.self).lowercased()
            for word in ["sql", "table", "clients", "grdb", "error 1"] { #expect(!text.contains(word), "\(text)") }
            // Nothing is stuck: when the database is back, so is the server.
            try await rename("clients_away", "clients")
            #expect(try await scene.server.send(.GET, "/readyz").status == 200)
            #expect(try await scene.approve(asked).json["state"] == "approved")
        }
    }
}
