import CountersignStorage
import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite(
    "A PostgreSQL database is backed up while it is in use, and what is kept can be restored", .serialized,
    .timeLimit(.minutes(10)))
struct DatabaseBackupTests {
    /// Restores a backup as the guide describes.
    private func restore(_ file: String, as name: String, in postgres: PostgresServer) async throws {
        try postgres.sql("CREATE DATABASE \(name)", in: "postgres")
        let program = try #require(Program.path(of: "pg_restore"))
        let result = try await RunningProgram.run(
            program, ["--no-owner", "--exit-on-error", "--dbname=\(postgres.address(of: name))", file])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("What is restored has the same users, enrollments and receipts, and a server goes on with it")
    func restored() async throws {
        try await BackupStage.playing { stage in
            let approved = try await stage.shop.approved()
            let open = try await stage.shop.call(
                "challenge", "ask", "--user", stage.shop.user, "--message", "And the window?")
            let copy = stage.path("it's a copy")
            let told = try await stage.admin.json("admin", "backup", "--out", copy)
            #expect(
                told["rows"] == ["challenges": 2, "clients": 2, "enrollments": 1, "receipts": 1, "users": 1])
            #expect(told["schema"] == .integer(Int64(Migrations.newest)))
            #expect(told["restored"] == false)
            let attributes = try FileManager.default.attributesOfItem(atPath: copy)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(told["size"] == .integer(Int64((attributes[.size] as? Int) ?? 0)))
            #expect(!FileManager.default.fileExists(atPath: copy + ".part"))
            // Later changes are not in the backup.
            _ = try await stage.shop.approved()
            try await restore(copy, as: "restored", in: stage.postgres)
            // The restored database is checked before the server starts, with the separately kept key.
            let folder = try TemporaryFolder()
            var successor = Operator(
                database: stage.postgres.address(of: "restored"), data: folder.path("data"))
            #expect(try await successor.findings()["database"] == "fault", "there is no key yet")
            try FileManager.default.createDirectory(
                atPath: successor.data, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            successor.environment["COUNTERSIGN_MASTER_KEY"] = Base64.encode([UInt8](repeating: 9, count: 32))
            #expect(try await successor.findings()["database"] == "fault", "the key is another")
            successor.environment = [:]
            try FileManager.default.copyItem(
                atPath: "\(stage.keeper.data)/master.key", toPath: "\(successor.data)/master.key")
            let findings = try await successor.findings()
            #expect(findings["database"] == "fine")
            #expect(findings["master key"] == "fine")
            let server = try ServerKeeper(
                folder: folder, port: FreePort.next(),
                arguments: ["--database", successor.database, "--issuer", stage.keeper.url])
            // Phones know the server by its address, so the new server has the old one's address.
            try await stage.keeper.stop()
            try await server.start()
            let shop = stage.shop.moved(to: server.url)
            #expect(try await shop.call("challenge", "show", approved)["state"] == "approved")
            let receipt = try await shop.call("challenge", "receipt", approved, "--out", stage.path("receipt"))
            #expect(receipt != .members([:]))
            #expect(try await shop.call("challenge", "show", open["id"]?.string ?? "")["state"] == "pending")
            #expect(try stage.postgres.sql("SELECT count(*) FROM challenges", in: "restored") == "2")
            #expect(try stage.postgres.sql("SELECT count(*) FROM commits", in: "restored") != "0", "it was served")
            try await server.stop()
        }
    }

    @Test("While others write, it is one moment: whole transactions, all of those before")
    func underLoad() async throws {
        try await BackupStage.playing { stage in
            let (written, write) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let shop = stage.shop
            let writer = Task {
                // Otherwise the test would wait for ever for a writer that failed.
                defer { write.finish() }
                while !Task.isCancelled {
                    _ = try await shop.call("user", "create")
                    write.yield()
                }
            }
            // If the URL names several hosts, pg_dump uses the one that the command has found.
            let hosts = "127.0.0.1:1,127.0.0.1:\(stage.postgres.port)"
            let admin = Operator(
                database: "postgres://countersign@\(hosts)/countersign?target_session_attrs=read-write",
                data: stage.admin.data)
            var progress = written.makeAsyncIterator()
            for number in 0..<3 {
                guard await progress.next() != nil else { return try await writer.value }
                let before = Int64(try stage.postgres.sql("SELECT count(*) FROM users")) ?? 0
                let copy = stage.path("copy-\(number)")
                let told = try await admin.json("admin", "backup", "--try-restore", "--out", copy)
                #expect(told["restored"] == true)
                #expect((told["rows"]?["users"]?.integer ?? 0) >= before)
                try await restore(copy, as: "restored\(number)", in: stage.postgres)
                // A user and the user's link are written in the same transaction.
                func count(_ table: String) throws -> String {
                    try stage.postgres.sql("SELECT count(*) FROM \(table)", in: "restored\(number)")
                }
                let (users, links) = (try count("users"), try count("user_links"))
                #expect(users == links)
                #expect(told["rows"]?["users"]?.integer.map { "\($0)" } == users)
            }
            writer.cancel()
            _ = try? await writer.value
            let left = try stage.postgres.sql(
                "SELECT count(*) FROM pg_database WHERE datname LIKE 'countersign_try%'", in: "postgres")
            #expect(left == "0", "what was made for a try is dropped")
        }
    }
}
