import Foundation
import TestSupport
import Testing

/// A PostgreSQL server that accepts one role by its password and only over TLS, under the name `db.example.com`.
struct GuardedServer {
    /// The password of the role `guarded`.
    let password = "hush-\(UInt64.random(in: 0...(.max)))-hush"
    let postgres: PostgresServer
    /// The folder with the certificates: `ca.pem` has issued the server's, `other.pem` has not.
    let folder: TemporaryFolder

    /// Creates the certificates, and starts a server with an empty database.
    init() async throws {
        let folder = try TemporaryFolder()
        let openssl = try #require(Program.path(of: "openssl"))
        func make(_ name: String, _ options: [String]) async throws {
            let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            let files = ["-keyout", folder.path("\(name).key"), "-out", folder.path("\(name).pem")]
            let result = try await RunningProgram.run(
                openssl, ["req", "-x509", "-days", "30"] + key + files + options)
            try #require(result.status == 0, "\(result.errors)")
        }
        for authority in ["ca", "other"] {
            try await make(authority, ["-subj", "/CN=\(authority)", "-addext", "keyUsage=critical,keyCertSign"])
        }
        try await make(
            "server",
            [
                "-subj", "/CN=db.example.com", "-addext", "subjectAltName=DNS:db.example.com", "-addext",
                "basicConstraints=critical,CA:FALSE", "-CA", folder.path("ca.pem"), "-CAkey", folder.path("ca.key"),
            ])
        self.folder = folder
        postgres = try PostgresServer(
            settings: ["ssl = on", "password_encryption = 'scram-sha-256'"],
            access: ["hostssl all guarded 127.0.0.1/32 scram-sha-256"],
            files: ["server.crt": try folder.read("server.pem"), "server.key": try folder.read("server.key")])
        try postgres.sql("CREATE ROLE guarded LOGIN CREATEDB PASSWORD '\(password)'", in: "postgres")
        try postgres.sql("CREATE DATABASE countersign OWNER guarded", in: "postgres")
    }

    /// The URL of the server's database.
    ///
    /// - Parameters:
    ///   - host: the host in the URL; connections reach the server in any case.
    ///   - password: the password in the URL; nil for none.
    ///   - options: further options.
    func address(host: String = "db.example.com", password: String? = nil, _ options: String) -> String {
        let user = "guarded" + (password.map { ":\($0)" } ?? "")
        return "postgres://\(user)@\(host):\(postgres.port)/countersign?hostaddr=127.0.0.1&\(options)"
    }

    /// Options for the strictest certificate check, with one authority.
    func strict(_ authority: String = "ca") -> String {
        "sslmode=verify-full&sslrootcert=\(folder.path("\(authority).pem"))"
    }
}
