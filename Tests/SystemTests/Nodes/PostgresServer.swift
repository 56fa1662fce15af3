import Foundation
import ServerTestSupport
import Synchronization
import TestSupport

/// A PostgreSQL server of one test, which can be stopped in every way.
final class PostgresServer: Sendable {
    /// A program of PostgreSQL failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: Int
    private let folder: String
    private let programs: String
    private let watchdog: Watchdog

    /// Creates and starts a server.
    ///
    /// - Parameters:
    ///   - settings: lines of postgresql.conf, which override the usual ones.
    ///   - access: lines of pg_hba.conf, before the line that accepts local roles.
    ///   - files: further files in its data folder, by name.
    convenience init(settings: [String] = [], access: [String] = [], files: [String: [UInt8]] = [:]) throws {
        try self.init { server in
            try server.run(
                "initdb", ["-D", server.data, "-A", "trust", "-U", "countersign", "-E", "UTF8", "--no-sync"])
            let usual = [
                "", "listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", "fsync = off",
                "max_connections = 200",
            ]
            try server.append((usual + settings).joined(separator: "\n") + "\n", to: "postgresql.conf")
            try FileManager.default.removeItem(atPath: "\(server.data)/pg_hba.conf")
            let known = ["host all,replication countersign,modest 127.0.0.1/32 trust"]
            let lines = (access + known).joined(separator: "\n") + "\n"
            try server.append(lines, to: "pg_hba.conf")
            for (name, content) in files { try server.append(String(decoding: content, as: UTF8.self), to: name) }
        }
    }

    /// Appends to a file in its data folder; a new file is readable by its owner only.
    private func append(_ text: String, to name: String) throws {
        let path = "\(data)/\(name)"
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: Data(text.utf8))
        if getuid() == 0, let owner = getpwnam("postgres") { fchown(file, owner.pointee.pw_uid, owner.pointee.pw_gid) }
        try handle.close()
    }

    /// Creates and starts a synchronous replica of a server; commits on that server then wait for the replica.
    convenience init(replicaOf primary: PostgresServer) throws {
        try self.init { server in
            let source = "host=127.0.0.1 port=\(primary.port) user=countersign application_name=replica"
            try server.run("pg_basebackup", ["-D", server.data, "-R", "-X", "stream", "-c", "fast", "-d", source])
        }
        try primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'replica'", in: "postgres")
        try primary.sql("SELECT pg_reload_conf()", in: "postgres")
        while try primary.sql("SELECT sync_state FROM pg_stat_replication", in: "postgres") != "sync" {}
    }

    private init(make: (PostgresServer) throws -> Void) throws {
        port = FreePort.next()
        // Debian installs the server's programs in one folder for each version.
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        programs =
            versions.max { (Int($0) ?? 0) < (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" } ?? "/usr/bin"
        let name = "countersign-postgres-\(UInt32.random(in: 0...(.max)))"
        folder = FileManager.default.temporaryDirectory.appending(path: name).path
        watchdog = try Watchdog()
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        // The server refuses to run as root.
        if getuid() == 0, let owner = getpwnam("postgres") { chown(folder, owner.pointee.pw_uid, owner.pointee.pw_gid) }
        try make(self)
        try start()
    }

    deinit {
        try? end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private var data: String { "\(folder)/data" }

    /// The URL of one of its databases.
    ///
    /// - Parameters:
    ///   - database: the name of the database.
    ///   - role: the role; the owner by default.
    func address(of database: String = "countersign", as role: String = "countersign") -> String {
        "postgres://\(role)@127.0.0.1:\(port)/\(database)"
    }

    /// Starts the server; returns when it answers.
    func start() throws {
        try run("pg_ctl", ["-D", data, "-l", "\(folder)/log", "-o", "-p \(port)", "-w", "start"])
        let file = try String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8)
        try watchdog.watch(file.split(separator: "\n").first.flatMap { Int32($0) })
    }

    /// Stops the server as a crash would.
    func end() throws {
        try run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"])
        try watchdog.watch(nil)
    }

    /// Promotes a replica to the primary server.
    func promote() throws {
        try run("pg_ctl", ["-D", data, "-w", "promote"])
    }

    /// Runs a statement and returns its output as unaligned text.
    @discardableResult
    func sql(_ statement: String, in database: String = "countersign") throws -> String {
        try run(
            "psql", ["-h", "127.0.0.1", "-p", "\(port)", "-U", "countersign", "-d", database, "-AtX", "-c", statement])
    }

    /// The faults in the database; empty if there are none.
    func faults() throws -> [String] {
        try [DatabaseFile.oddEnds, DatabaseFile.oddReceipts].flatMap { statement in
            try sql(statement).split(separator: "\n").map(String.init)
        }
    }

    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let command = ["\(programs)/\(program)"] + arguments
        // The output goes to a file, because a started server would keep a pipe open.
        let output = "\(NSTemporaryDirectory())/countersign-\(UInt32.random(in: 0...(.max)))"
        defer { try? FileManager.default.removeItem(atPath: output) }
        let owner = getuid() == 0 ? ["/usr/sbin/runuser", "-u", "postgres", "--"] : []
        let words = (owner + command).map { "'\($0.replacing("'", with: "'\\''"))'" }.joined(separator: " ")
        // The server would keep inherited files open, and a process counts as running until they are closed.
        let closing = "for it in /proc/$$/fd/*; do it=${it##*/}; [ $it -le 2 ] || eval \"exec $it>&-\"; done"
        let result = try Program.run(
            "/bin/bash", ["-c", "\(closing); cd /; \(words) >'\(output)' 2>&1 </dev/null"])
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        guard result.status == 0 else { throw Failure(description: "\(program): \(text)") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
