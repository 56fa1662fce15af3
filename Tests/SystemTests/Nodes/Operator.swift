import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// An operator who runs the real program in a shell, for servers on a PostgreSQL database.
struct Operator {
    /// The URL of the database.
    let database: String
    /// The data folder of a server.
    let data: String
    /// The environment variables of the shell.
    var environment: [String: String] = [:]

    /// Runs a command about the server.
    func run(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProgram.run(
            try ServerProcess.program, arguments + ["--data", data, "--database", database], environment: environment)
    }

    /// Runs a command that must succeed and print a JSON object.
    func json(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        let result = try await RunningProgram.run(
            try ServerProcess.program, arguments + ["--json", "--data", data, "--database", database],
            environment: environment)
        #expect(result.status == 0, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
        return try JSONValue(parsing: Array(result.output.utf8))
    }

    /// The results of `admin doctor`: the states by name.
    func findings() async throws -> [String: String] {
        let result = try await run("admin", "doctor", "--json")
        let json = try JSONValue(parsing: Array(result.output.utf8))
        let found = (json["findings"]?.array ?? []).map { ($0["name"]?.string ?? "", $0["state"]?.string ?? "") }
        return Dictionary(found) { [$0, $1].contains("fault") ? "fault" : $0 }
    }

    /// Replaces a program on the search path by a script, in which `$REAL` is the original program.
    mutating func replace(_ name: String, by script: String, in folder: TemporaryFolder) throws {
        let real = try #require(Program.path(of: name))
        let path = try folder.write(name, Array("#!/bin/bash\nREAL='\(real)'\n\(script)\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        environment["PATH"] = "\(folder.url.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
    }
}

/// A relying party with one user, whose phone is the terminal phone.
struct TerminalShop {
    /// The URL of the server.
    let url: String
    /// The relying party's credentials.
    let token: String
    let home: String
    let user: String

    /// Creates everything on a server.
    init(at url: String, operatedBy token: String, phone home: String) async throws {
        self.url = url
        self.home = home
        let made = try await Self.call(["client", "create", "--name", "ACME Shop"], url, token, home)
        let secret = "\(made["client_id"]?.string ?? ""):\(made["client_secret"]?.string ?? "")"
        self.token = secret
        user = try await Self.call(["user", "create"], url, secret, home)["id"]?.string ?? ""
        let ticket = try await Self.call(["user", "ticket", user], url, secret, home)["qr"]?.string ?? ""
        _ = try await Self.call(["device", "enroll", "--ticket", ticket], url, secret, home)
    }

    private init(_ other: TerminalShop, at url: String) {
        (self.url, token, home, user) = (url, other.token, other.home, other.user)
    }

    /// The same relying party at another server's URL.
    func moved(to url: String) -> TerminalShop { TerminalShop(self, at: url) }

    /// Runs a command as the relying party or as the phone.
    func call(_ arguments: String...) async throws -> JSONValue {
        try await Self.call(arguments, url, token, home)
    }

    /// Asks the user, approves, and returns the challenge's id.
    func approved() async throws -> String {
        let asked = try await call("challenge", "ask", "--user", user, "--message", "Open the door?")
        let id = asked["id"]?.string ?? ""
        _ = try await call("device", "answer", id, "--approve", "--number", asked["number"]?.string ?? "")
        return id
    }

    private static func call(
        _ arguments: [String], _ url: String, _ token: String, _ home: String
    ) async throws -> JSONValue {
        let result = try await RunningProgram.run(
            try ServerProcess.program, arguments + ["--json"],
            environment: ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": token, "COUNTERSIGN_DEVICE_HOME": home])
        try #require(result.status == 0, "\(arguments): \(result.errors)")
        return try JSONValue(parsing: Array(result.output.utf8))
    }
}
