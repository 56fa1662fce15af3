import AsyncHTTPClient
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite(
    "PostgreSQL over TLS and by password: what libpq reads of an address counts, and no password is told", .serialized,
    .timeLimit(.minutes(10)))
struct DatabaseTLSTests {
    @Test("Certificates are checked as sslmode says; whoever is refused is told why")
    func modes() async throws {
        let server = try await GuardedServer()
        let data = try TemporaryFolder()
        let authority = "sslrootcert=\(server.folder.path("ca.pem"))"
        let cases: [(host: String, options: String, refusal: String?)] = [
            ("db.example.com", server.strict(), nil),
            ("db.example.com", server.strict("other"), "certificate verify failed"),
            ("db.example.com", "sslmode=verify-full&sslrootcert=/nonexistent", "root certificate file"),
            ("elsewhere.example.com", server.strict(), "does not match host name \"elsewhere.example.com\""),
            ("elsewhere.example.com", "sslmode=verify-ca&\(authority)", nil),
            ("elsewhere.example.com", "sslmode=require", nil),
            ("db.example.com", "sslmode=disable", "no encryption"),
        ]
        for (host, options, refusal) in cases {
            let address = server.address(host: host, password: server.password, options)
            let result = try await Operator(database: address, data: data.path("data")).run("admin", "migrate")
            try judge(result, refusal, server)
        }
    }

    @Test("The password comes from the address, from PGPASSWORD or from a file")
    func passwords() async throws {
        let server = try await GuardedServer()
        let folder = try TemporaryFolder()
        let line = "db.example.com:\(server.postgres.port):*:guarded:\(server.password)\n"
        let file = try folder.write("passwords", Array(line.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let (plain, wrong) = (server.address(server.strict()), "wrong-\(server.password)")
        let refused = "password authentication failed for user \"guarded\""
        let cases: [(address: String, environment: [String: String], refusal: String?)] = [
            (server.address(password: server.password, server.strict()), [:], nil),
            (plain, ["PGPASSWORD": server.password], nil),
            (plain, ["PGPASSFILE": file], nil),
            (server.address("\(server.strict())&passfile=\(file)"), [:], nil),
            (plain, ["PGPASSFILE": "/nonexistent"], "no password supplied"),
            (server.address(password: wrong, server.strict()), [:], refused),
            // The address takes precedence over the environment.
            (server.address(password: wrong, server.strict()), ["PGPASSWORD": server.password], refused),
            (plain, ["PGPASSWORD": wrong], refused),
        ]
        for (address, environment, refusal) in cases {
            let admin = Operator(database: address, data: folder.path("data"), environment: environment)
            try judge(try await admin.run("admin", "migrate"), refusal, server)
            guard refusal != nil else { continue }
            // Other commands report the same refusal and reveal no more.
            try judge(try await admin.run("serve", "--port", "0"), refusal, server)
            try judge(try await admin.run("admin", "backup", "--out", folder.path("copy")), refusal, server)
            let doctor = try await admin.run("admin", "doctor")
            #expect(doctor.status == 1)
            #expect(doctor.output.contains(refusal ?? "") && !doctor.output.contains(server.password))
        }
    }

    @Test("A command that ends while connections still speak TLS ends as it should")
    func ends() async throws {
        let server = try await GuardedServer()
        let data = try TemporaryFolder()
        let admin = Operator(
            database: server.address(password: server.password, server.strict()), data: data.path("data"))
        for _ in 0..<16 {
            let result = try await admin.run("admin", "migrate")
            try #require(result.status == 0, "\(result.errors.prefix(300))")
        }
    }

    /// Checks the result of a command that may be refused, and that it does not reveal the password.
    private func judge(_ result: ProgramResult, _ refusal: String?, _ server: GuardedServer) throws {
        #expect(result.status == (refusal == nil ? 0 : 1), "\(result.errors)")
        if let refusal { #expect(result.errors.contains(refusal), "\(result.errors)") }
        #expect(!(result.output + result.errors).contains(server.password))
    }

    @Test("A backup is made with the same checks and the same password, which no list of processes shows")
    func backup() async throws {
        let server = try await GuardedServer()
        let folder = try TemporaryFolder()
        let programs = try TemporaryFolder()
        let line = "db.example.com:\(server.postgres.port):*:guarded:\(server.password)\n"
        let file = try folder.write("passwords", Array(line.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        var admin = Operator(
            database: server.address(password: server.password, server.strict()), data: folder.path("data"))
        _ = try await admin.json("admin", "migrate")
        let seen = programs.path("seen")
        for name in ["pg_dump", "pg_restore", "createdb", "dropdb"] {
            try admin.replace(
                name, by: "tr '\\0' ' ' </proc/$$/cmdline >>\(seen)\nexec $REAL \"$@\"", in: programs)
        }
        let byAddress = try await admin.json("admin", "backup", "--try-restore", "--out", folder.path("one"))
        #expect(byAddress["rows"]?["clients"] == 0)
        admin = Operator(
            database: server.address(server.strict()), data: admin.data,
            environment: admin.environment.merging(["PGPASSFILE": file]) { $1 })
        _ = try await admin.json("admin", "backup", "--out", folder.path("two"))
        let commands = String(decoding: try programs.read("seen"), as: UTF8.self)
        #expect(commands.contains("--format=custom") && commands.contains("--dbname=countersign_try_"))
        #expect(!commands.contains(server.password))
        let locked = Operator(
            database: server.address(password: server.password, "\(server.strict())&sslpassword=hush-key-hush"),
            data: admin.data)
        let unseen = try await locked.run("admin", "backup", "--out", folder.path("none"))
        #expect(unseen.status == 1 && unseen.errors.contains("sslpassword"))
        #expect(!unseen.errors.contains("hush-key-hush"))
        // pg_dump checks the certificate with the options of the address, too; with another authority it refuses the
        // server.
        try admin.replace(
            "pg_dump",
            by: """
                [ "$1" != --version ] || exec $REAL --version
                [ "$PGSSLMODE $PGHOST $PGHOSTADDR" = "verify-full db.example.com 127.0.0.1" ] || exit 9
                [ -n "$PGSSLROOTCERT" ] || exit 9
                PGSSLROOTCERT=\(server.folder.path("other.pem")) exec $REAL "$@"
                """, in: programs)
        let deceived = try await admin.run("admin", "backup", "--out", folder.path("three"))
        #expect(deceived.status == 1)
        #expect(deceived.errors.contains("certificate verify failed"), "\(deceived.errors)")
    }

    @Test("A server works over TLS, and logs no password when its own is no longer the right one")
    func serving() async throws {
        let server = try await GuardedServer()
        let keeper = try ServerKeeper(
            folder: try TemporaryFolder(), port: FreePort.next(),
            arguments: ["--database", server.address(password: server.password, server.strict())])
        keeper.watch.plant(server.password, "the database's password")
        let http = PersistentCaller.makeClient()
        let result = await Result {
            try await keeper.start()
            let caller = PersistentCaller(keeper: keeper, http: http, ledger: Ledger())
            #expect(try await caller.send(.GET, "/readyz", nil, fields: []).status == 200)
            let spoken = try server.postgres.sql(
                "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'guarded'")
            #expect(spoken == "t")
            try server.postgres.sql("ALTER ROLE guarded PASSWORD 'another'")
            try server.postgres.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'")
            #expect(try await caller.send(.GET, "/readyz", nil, fields: []).status == 503)
            #expect(await keeper.lastWords.contains("password authentication failed"))
            try server.postgres.sql("ALTER ROLE guarded PASSWORD '\(server.password)'")
            while try await caller.send(.GET, "/readyz", nil, fields: []).status != 200 {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await keeper.leaks.isEmpty)
        }
        try? await keeper.stop()
        try await http.shutdown()
        try result.get()
    }
}
