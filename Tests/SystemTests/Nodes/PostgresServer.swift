import Foundation
import ServerTestSupport
import Synchronization
import TestSupport

/// A PostgreSQL server of a test's own, which can be ended in every way.
final class PostgresServer: Sendable {
    /// A program of PostgreSQL's did not do what it should.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The port it listens on.
    let port: Int
    private let folder: String
    private let programs: String
    private let watchdog: Watchdog

    /// Makes a server and starts it.
    ///
    /// - Parameters:
    ///   - settings: lines of its postgresql.conf, which count in the place of the usual ones.
    ///   - access: lines of its pg_hba.conf, before the one that lets roles in from here.
    ///   - files: further files of its data folder, by their names.
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

    /// Adds to a file of its data folder, or makes it, for its owner alone.
    private func append(_ text: String, to name: String) throws {
        let path = "\(data)/\(name)"
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: Data(text.utf8))
        if getuid() == 0, let owner = getpwnam("postgres") { fchown(file, owner.pointee.pw_uid, owner.pointee.pw_gid) }
        try handle.close()
    }

    /// Makes a replica of a server and starts it; from then on a commit there waits until it is here, too.
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
        // Debian keeps the server's programs apart, one folder for each version.
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

    /// The address of one of its databases.
    ///
    /// - Parameters:
    ///   - database: which.
    ///   - role: who asks; the one that may do everything, unless told otherwise.
    func address(of database: String = "countersign", as role: String = "countersign") -> String {
        "postgres://\(role)@127.0.0.1:\(port)/\(database)"
    }

    /// Starts it; returns when it answers.
    func start() throws {
        try run("pg_ctl", ["-D", data, "-l", "\(folder)/log", "-o", "-p \(port)", "-w", "start"])
        let file = try String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8)
        try watchdog.watch(file.split(separator: "\n").first.flatMap { Int32($0) })
    }

    /// Ends it as a crash would.
    func end() throws {
        try run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"])
        try watchdog.watch(nil)
    }

    /// Makes a replica the first server.
    func promote() throws {
        try run("pg_ctl", ["-D", data, "-w", "promote"])
    }

    /// Runs a statement; returns what it gives, column by column, line by line.
    @discardableResult
    func sql(_ statement: String, in database: String = "countersign") throws -> String {
        try run(
            "psql", ["-h", "127.0.0.1", "-p", "\(port)", "-U", "countersign", "-d", database, "-AtX", "-c", statement])
    }

    /// What is wrong in the database; empty when nothing is.
    func faults() throws -> [String] {
        try [DatabaseFile.oddEnds, DatabaseFile.oddReceipts].flatMap { statement in
            try sql(statement).split(separator: "\n").map(String.init)
        }
    }

    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let command = ["\(programs)/\(program)"] + arguments
        // Its output goes to a file: a server that is started keeps it open.
        let output = "\(NSTemporaryDirectory())/countersign-\(UInt32.random(in: 0...(.max)))"
        defer { try? FileManager.default.removeItem(atPath: output) }
        let owner = getuid() == 0 ? ["/usr/sbin/runuser", "-u", "postgres", "--"] : []
        let words = (owner + command).map { "'\($0.replacing("'", with: "'\\''"))'" }.joined(separator: " ")
        // Whatever the server inherited it would keep open, and a process counts as running until that is closed.
        let closing = "for it in /proc/$$/fd/*; do it=${it##*/}; [ $it -le 2 ] || eval \"exec $it>&-\"; done"
        let result = try Program.run(
            "/bin/bash", ["-c", "\(closing); cd /; \(words) >'\(output)' 2>&1 </dev/null"])
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        guard result.status == 0 else { throw Failure(description: "\(program): \(text)") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
