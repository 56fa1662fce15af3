import AsyncHTTPClient
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

/// What callers and operators learn while PostgreSQL cannot be reached.
@Suite("A database that is not there is told of, and comes back by itself", .serialized, .timeLimit(.minutes(10)))
struct DatabaseAwayTests {
    /// A password that must not appear in any output.
    private static let password = "hush-hush-hush"

    @Test("While it is away the server lives, is not ready and says 503; when it is back, all goes on")
    func away() async throws {
        let server = try PostgresServer()
        try server.sql("CREATE DATABASE countersign", in: "postgres")
        let keeper = try ServerKeeper(
            folder: try TemporaryFolder(), port: FreePort.next(),
            arguments: [
                "--database", "postgres://countersign:\(Self.password)@127.0.0.1:\(server.port)/countersign",
                "--database-connections", "4",
            ])
        let http = PersistentCaller.makeClient()
        let result = await Result {
            try await keeper.start()
            let token = try String(contentsOfFile: "\(keeper.data)/bootstrap.token", encoding: .utf8)
            let caller = PersistentCaller(keeper: keeper, http: http, ledger: Ledger())
            func get(_ path: String) async throws -> Reply {
                let authorization = "Bearer \(token.trimmingCharacters(in: .whitespacesAndNewlines))"
                return try await caller.send(.GET, path, nil, fields: [("Authorization", authorization)])
            }
            #expect(try await get("/readyz").status == 200)
            try server.end()
            let begin = ContinuousClock.now
            let (ready, types) = (try await get("/readyz"), try await get("/v1/admin/types"))
            #expect(ready.status == 503)
            #expect(types.status == 503)
            #expect(types.code == "unavailable")
            #expect(try await get("/healthz").status == 200)
            #expect(ContinuousClock.now - begin < .seconds(40), "each is told within its time")
            try server.start()
            while try await get("/readyz").status != 200 { try await Task.sleep(for: .milliseconds(50)) }
            #expect(try await get("/v1/admin/types").status == 200)
            #expect(try await keeper.leaks.isEmpty)
            let log = try await keeper.wholeLog
            #expect(!log.contains(Self.password))
            #expect(log.contains("database is away"), "the operator is told")
        }
        try? await keeper.stop()
        try await http.shutdown()
        try result.get()
    }

    @Test(
        "A server that cannot start says why, in words that help and without the password",
        arguments: [
            ("postgres://u:\(password)@127.0.0.1:1/cs", "onnection refused", Int32(1)),
            ("postgres://u:\(password)@127.0.0.1:1/cs?pasword=x", "database must be", 2),
            ("mysql://u:\(password)@127.0.0.1/cs", "database must be", 2),
        ])
    func refusedStart(_ database: String, _ reason: String, _ status: Int32) throws {
        let folder = try TemporaryFolder()
        for (arguments, environment) in [(["--database", database], [:]), ([], ["COUNTERSIGN_DATABASE": database])] {
            let result = try Program.run(
                try ServerProcess.program, ["serve", "--port", "0", "--data", folder.path("data")] + arguments,
                environment: environment)
            #expect(result.status == status, "\(result.errors)")
            #expect(result.errors.contains(reason), "\(result.errors)")
            #expect(!(result.errors + result.output).contains(Self.password))
        }
    }

    @Test("The operator's token is made anew in the database that is named")
    func bootstrap() async throws {
        let server = try PostgresServer()
        try server.sql("CREATE DATABASE countersign", in: "postgres")
        let database = "postgres://countersign@127.0.0.1:\(server.port)/countersign"
        let keeper = try ServerKeeper(
            folder: try TemporaryFolder(), port: FreePort.next(), arguments: ["--database", database])
        try await keeper.start()
        let file = "\(keeper.data)/bootstrap.token"
        let before = try String(contentsOfFile: file, encoding: .utf8)
        let result = try Program.run(
            try ServerProcess.program, ["admin", "bootstrap", "--data", keeper.data, "--database", database])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) != before)
        #expect(try server.sql("SELECT count(*) FROM bootstrap_tokens") == "1")
        try await keeper.stop()
    }
}
