import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// Whoever runs servers on a PostgreSQL database from a shell of their own, with the real program.
struct Operator {
    /// The database.
    let database: String
    /// A server's data folder.
    let data: String
    /// What stands in the environment.
    var environment: [String: String] = [:]

    /// Runs a command about the server.
    func run(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProgram.run(
            try ServerProcess.program, arguments + ["--data", data, "--database", database], environment: environment)
    }

    /// Runs a command that must be done and prints an object.
    func json(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        let result = try await RunningProgram.run(
            try ServerProcess.program, arguments + ["--json", "--data", data, "--database", database],
            environment: environment)
        #expect(result.status == 0, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
        return try JSONValue(parsing: Array(result.output.utf8))
    }

    /// What `admin doctor` finds: states by name.
    func findings() async throws -> [String: String] {
        let result = try await run("admin", "doctor", "--json")
        let json = try JSONValue(parsing: Array(result.output.utf8))
        let found = (json["findings"]?.array ?? []).map { ($0["name"]?.string ?? "", $0["state"]?.string ?? "") }
        return Dictionary(found) { [$0, $1].contains("fault") ? "fault" : $0 }
    }

    /// Lets `name` on the search path be a script; `$REAL` in it is the program it takes the place of.
    mutating func replace(_ name: String, by script: String, in folder: TemporaryFolder) throws {
        let real = try #require(Program.path(of: name))
        let path = try folder.write(name, Array("#!/bin/bash\nREAL='\(real)'\n\(script)\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        environment["PATH"] = "\(folder.url.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
    }
}

/// A relying party with one user, whose phone is a terminal.
struct TerminalShop {
    /// Where a server is reached.
    let url: String
    /// The relying party's credentials.
    let token: String
    /// The phone's folder.
    let home: String
    /// Its user.
    let user: String

    /// Makes everything through a server.
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

    /// The same, where another server is reached.
    func moved(to url: String) -> TerminalShop { TerminalShop(self, at: url) }

    /// Runs a command as the relying party, or the phone.
    func call(_ arguments: String...) async throws -> JSONValue {
        try await Self.call(arguments, url, token, home)
    }

    /// Asks the user something and has it approved; the challenge's id.
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
