import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("Design 8: a PostgreSQL database is backed up while it is in use, and what is kept can be restored", .serialized)
struct DatabaseBackupTests {
    /// A server on a database of its own, with a relying party that has a user with a phone.
    private struct Stage {
        let postgres: PostgresServer
        let keeper: ServerKeeper
        let shop: TerminalShop
        let folder: TemporaryFolder
        var admin: Operator

        func path(_ name: String) -> String { folder.path(name) }
    }

    private func playing(_ body: (Stage) async throws -> Void) async throws {
        let postgres = try PostgresServer()
        try postgres.sql("CREATE DATABASE countersign", in: "postgres")
        let folder = try TemporaryFolder()
        let keeper = try ServerKeeper(
            folder: folder, port: FreePort.next(), arguments: ["--database", postgres.address()])
        try await keeper.start()
        let result = await Result {
            let token = try String(contentsOfFile: "\(keeper.data)/bootstrap.token", encoding: .utf8)
            let shop = try await TerminalShop(
                at: keeper.url, operatedBy: token.trimmingCharacters(in: .whitespacesAndNewlines),
                phone: folder.path("phone"))
            try await body(
                Stage(
                    postgres: postgres, keeper: keeper, shop: shop, folder: folder,
                    admin: Operator(database: postgres.address(), data: keeper.data)))
        }
        try await keeper.stop()
        try result.get()
    }

    /// Restores a copy as the guide has it.
    private func restore(_ file: String, as name: String, in postgres: PostgresServer) async throws {
        try postgres.sql("CREATE DATABASE \(name)", in: "postgres")
        let program = try #require(Program.path(of: "pg_restore"))
        let result = try await RunningProgram.run(
            program, ["--no-owner", "--exit-on-error", "--dbname=\(postgres.address(of: name))", file])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("What is restored has the same users, enrollments and receipts, and a server goes on with it")
    func restored() async throws {
        try await playing { stage in
            let approved = try await stage.shop.approved()
            let open = try await stage.shop.call(
                "challenge", "ask", "--user", stage.shop.user, "--message", "And the window?")
            let copy = stage.path("it's a copy")
            let told = try await stage.admin.json("admin", "backup", "--out", copy)
            #expect(
                told["rows"] == ["challenges": 2, "clients": 2, "enrollments": 1, "receipts": 1, "users": 1])
            #expect(told["schema"] == 1)
            #expect(told["restored"] == false)
            let attributes = try FileManager.default.attributesOfItem(atPath: copy)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(told["size"] == .integer(Int64((attributes[.size] as? Int) ?? 0)))
            #expect(!FileManager.default.fileExists(atPath: copy + ".part"))
            // What happens from now on is not in it.
            _ = try await stage.shop.approved()
            try await restore(copy, as: "restored", in: stage.postgres)
            // Looked at before it is served, with the key that was kept apart.
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
            // Phones know the server by its address, which moves with it.
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
        try await playing { stage in
            let (written, write) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let shop = stage.shop
            let writer = Task {
                while !Task.isCancelled {
                    _ = try await shop.call("user", "create")
                    write.yield()
                }
            }
            var progress = written.makeAsyncIterator()
            for number in 0..<3 {
                await progress.next()
                let before = Int64(try stage.postgres.sql("SELECT count(*) FROM users")) ?? 0
                let copy = stage.path("copy-\(number)")
                let told = try await stage.admin.json("admin", "backup", "--try-restore", "--out", copy)
                #expect(told["restored"] == true)
                #expect((told["rows"]?["users"]?.integer ?? 0) >= before)
                try await restore(copy, as: "restored\(number)", in: stage.postgres)
                // A user and its link are written together.
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

    @Test("A copy that lost something, or is cut off, gets no name; what is there already is not touched")
    func damaged() async throws {
        try await playing { stage in
            let programs = try TemporaryFolder()
            let copy = stage.path("copy")
            let harms = [
                ("exec $REAL \"$@\" --exclude-table-data=public.users", "users had 1 rows, and none are in it"),
                ("$REAL \"$@\" | head -c 9000", "pg_restore failed"),
                ("$REAL \"$@\" >/dev/null", "pg_restore failed"),
                ("$REAL \"$@\"; echo 'the disk is full' >&2; exit 1", "pg_dump failed (1): the disk is full"),
                ("echo 'pg_dump (PostgreSQL) 12.9'", "is of version 12, and the server of version"),
                ("echo hello", "does not say its version"),
            ]
            for (script, words) in harms {
                var admin = stage.admin
                // Its version is asked for first.
                let asked = words.contains("version") ? "" : "[ \"$1\" != --version ] || exec $REAL --version\n"
                try admin.replace("pg_dump", by: asked + script, in: programs)
                let result = try await admin.run("admin", "backup", "--out", copy)
                #expect(result.status == 1)
                #expect(result.errors.contains(words), "\(result.errors)")
                #expect(try !names(stage.folder).contains { $0.hasPrefix("copy") }, "\(script)")
            }
            _ = try stage.folder.write("copy", Array("precious".utf8))
            let result = try await stage.admin.run("admin", "backup", "--out", copy)
            #expect(result.status == 1 && result.errors.contains("copy is there already"))
            #expect(try stage.folder.read("copy") == Array("precious".utf8))
        }
    }

    @Test("A restore that fails, for a try, is told of, and what was made for it is dropped")
    func failedTrial() async throws {
        try await playing { stage in
            let programs = try TemporaryFolder()
            var admin = stage.admin
            let script = "for it; do [ \"${it#--dbname}\" = \"$it\" ] || exec /bin/false; done; exec $REAL \"$@\""
            try admin.replace("pg_restore", by: script, in: programs)
            let result = try await admin.run("admin", "backup", "--try-restore", "--out", stage.path("copy"))
            #expect(result.status == 1 && result.errors.contains("pg_restore failed"), "\(result.errors)")
            #expect(try !names(stage.folder).contains { $0.hasPrefix("copy") })
            let left = try stage.postgres.sql(
                "SELECT count(*) FROM pg_database WHERE datname LIKE 'countersign_try%'", in: "postgres")
            #expect(left == "0")
        }
    }

    @Test("No pg_dump, no database, a database that is not ours: each in words that help")
    func missing() async throws {
        let postgres = try PostgresServer()
        let folder = try TemporaryFolder()
        let copy = folder.path("copy")
        func failure(_ database: String, _ environment: [String: String] = [:]) async throws -> String {
            let admin = Operator(database: database, data: folder.path("data"), environment: environment)
            let result = try await admin.run("admin", "backup", "--out", copy)
            #expect(result.status == 1)
            #expect(!FileManager.default.fileExists(atPath: folder.path("data")), "a command about a server makes none")
            return result.errors
        }
        let bare = try await failure(postgres.address(of: "postgres"), ["PATH": "/nonexistent"])
        #expect(bare.contains("pg_dump is not on the search path") && bare.contains("postgresql-client"))
        #expect(try await failure(postgres.address(of: "none")).contains("database \"none\" does not exist"))
        #expect(try await failure(postgres.address(of: "postgres")).contains("There is no database of Countersign's"))
        #expect(try await failure("postgres://u@127.0.0.1:1/x").contains("onnection refused"))
        #expect(try names(folder) == [])
    }

    private func names(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    }
}
