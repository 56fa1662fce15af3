import CountersignStorage
import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("countersign admin doctor looks at a real PostgreSQL server", .serialized, .timeLimit(.minutes(10)))
struct DatabaseDoctorTests {
    /// A server with the settings of a production server, and a database in it.
    private func makeServer() throws -> PostgresServer {
        let server = try PostgresServer(settings: ["fsync = on"])
        try server.sql("CREATE DATABASE countersign", in: "postgres")
        return server
    }

    /// The states of the checks, by name without the prefix `database `.
    private func found(_ admin: Operator) async throws -> [String: String] {
        var found: [String: String] = [:]
        for (name, state) in try await admin.findings() where name.hasPrefix("database") {
            found[name == "database" ? name : String(name.dropFirst("database ".count))] = state
        }
        return found
    }

    @Test("An empty database is told of and stays empty; one that is served is fine")
    func sound() async throws {
        let server = try makeServer()
        let folder = try TemporaryFolder()
        let admin = Operator(database: server.address(), data: folder.path("data"))
        var expected = [
            "server": "fine", "encoding": "fine", "TLS": "fine", "clock": "fine", "connections": "fine",
            "durability": "fine", "replica": "warning", "database": "warning",
        ]
        #expect(try await found(admin) == expected)
        #expect(try await admin.run("admin", "doctor").status == 0)
        let relations = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        #expect(try server.sql(relations) == "0")
        #expect(!FileManager.default.fileExists(atPath: admin.data))
        #expect(try await admin.json("admin", "migrate")["schema"] == .integer(Int64(Migrations.newest)))
        expected["database"] = "fine"
        #expect(try await found(admin) == expected)
        #expect(try await admin.findings()["master key"] == "fine")
    }

    @Test("Each fault is found, and the server's own words are repeated where they help")
    func faults() async throws {
        let server = try makeServer()
        let folder = try TemporaryFolder()
        var admin = Operator(database: server.address(), data: folder.path("data"))
        _ = try await admin.json("admin", "migrate")
        admin.environment["COUNTERSIGN_DATABASE_CONNECTIONS"] = "195"
        #expect(try await found(admin)["connections"] == "warning")
        admin.environment["COUNTERSIGN_DATABASE_CONNECTIONS"] = "196"
        #expect(try await found(admin)["connections"] == "fault")
        admin.environment = [:]
        try server.sql("ALTER ROLE countersign SET synchronous_commit = off")
        #expect(try await found(admin)["durability"] == "fault")
        try server.sql("ALTER ROLE countersign SET default_transaction_read_only = on")
        #expect(try await found(admin)["server"] == "fault")
        try server.sql("BEGIN READ WRITE; ALTER ROLE countersign RESET ALL; COMMIT")
        #expect(try await found(admin).values.filter { $0 == "fault" }.isEmpty)
        try server.sql(
            "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'", in: "postgres")
        let latin = Operator(database: server.address(of: "latin"), data: folder.path("data"))
        #expect(try await found(latin)["encoding"] == "fault")
        try server.end()
        let away = try await admin.run("admin", "doctor")
        #expect(away.status == 1)
        #expect(away.output.contains("fault: database: 127.0.0.1:\(server.port)/countersign cannot be used: "))
        #expect(away.output.contains("onnection refused"))
    }

    @Test("A server that does not wait for the disk is a fault")
    func fsync() async throws {
        let server = try PostgresServer()
        let folder = try TemporaryFolder()
        let admin = Operator(database: server.address(of: "postgres"), data: folder.path("data"))
        #expect(try await found(admin)["durability"] == "fault")
    }
}
