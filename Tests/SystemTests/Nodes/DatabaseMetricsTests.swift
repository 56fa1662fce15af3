import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("The metrics tell how the connections to PostgreSQL stand", .serialized, .timeLimit(.minutes(10)))
struct DatabaseMetricsTests {
    private static let connections = "countersign_database_connections_"

    @Test("Connections, what waits for them, and whether the database is away, until it is back")
    func page() async throws {
        let server = try PostgresServer()
        try server.sql("CREATE DATABASE countersign", in: "postgres")
        let port = FreePort.next()
        let keeper = try ServerKeeper(
            folder: try TemporaryFolder(), port: FreePort.next(),
            arguments: [
                "--database", server.address(), "--database-connections", "3", "--metrics-listen",
                "127.0.0.1:\(port)",
            ])
        let http = PersistentCaller.makeClient()
        func samples() async throws -> [String: Double] {
            let response = try await http.execute(
                HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics"), timeout: .seconds(30))
            let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
            return Dictionary(lines.map { (String($0[0]), Double($0[1]) ?? -1) }) { $1 }
        }
        let result = await Result {
            try await keeper.start()
            let caller = PersistentCaller(keeper: keeper, http: http, ledger: Ledger())
            func ready() async throws -> Int { try await caller.send(.GET, "/readyz", nil, fields: []).status }
            #expect(try await ready() == 200)
            let page = try await samples()
            #expect((1...3).contains(page[Self.connections + "open"] ?? 0), "\(page)")
            #expect((0...3).contains(page[Self.connections + "busy"] ?? -1))
            #expect((page["countersign_database_jobs_waiting"] ?? -1) >= 0)
            #expect((page["countersign_database_oldest_job_age_seconds"] ?? -1) >= 0)
            #expect(page["countersign_database_away"] == 0)
            #expect(page["countersign_database_readable"] == 1)
            #expect(page["countersign_transaction_clashes_total"] != nil)
            #expect(page["countersign_commit_lookups_total"] == 0)
            try server.end()
            #expect(try await ready() == 503)
            let away = try await samples()
            #expect(away["countersign_database_away"] == 1)
            #expect(away["countersign_database_readable"] == 0)
            try server.start()
            while try await ready() != 200 { try await Task.sleep(for: .milliseconds(50)) }
            #expect(try await samples()["countersign_database_away"] == 0)
        }
        try? await keeper.stop()
        try await http.shutdown()
        try result.get()
    }
}
