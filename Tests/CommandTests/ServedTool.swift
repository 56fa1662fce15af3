import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// A server that the tool runs, and everything a person does with it at a prompt.
struct ServedTool: Sendable {
    let server: RunningProgram
    let folder: TemporaryFolder
    let url: String
    let token: String
    /// What was made, as JSON: the secrets of clients and tickets.
    let made = Made()

    /// The server's data folder, with a blank in its name.
    var data: String { folder.path("server data") }
    /// The device's folder.
    var home: String { folder.path("my phone") }

    /// Starts a server on a folder and reads where it listens.
    static func start(
        in folder: TemporaryFolder, _ options: [String] = [], environment: [String: String] = [:]
    ) async throws -> (RunningProgram, JSONValue) {
        let data = folder.path("server data")
        let server = try Tool.start(
            // What the system gives for 0 may be taken by a connection before the server listens there.
            ["serve", "--port", "\(FreePort.next())", "--json", "--data", data] + options, environment: environment)
        guard let line = await server.line() else {
            throw Tool.NotBuilt(description: "the server ended: \(try await server.result().errors)")
        }
        return (server, try JSONValue(parsing: Array(line.utf8)))
    }

    /// Runs something while a fresh server serves.
    static func with(
        environment: [String: String] = [:], _ body: (ServedTool) async throws -> Void
    ) async throws {
        try await Turnstile.pass { try await serving(environment, body) }
    }

    private static func serving(
        _ environment: [String: String], _ body: (ServedTool) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        // What is logged is read for secrets in the end: every line of it.
        let (server, told) = try await start(
            in: folder, environment: ["COUNTERSIGN_LOG_LEVEL": "trace"].merging(environment) { $1 })
        let token = String(decoding: try folder.read("server data/bootstrap.token"), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let tool = ServedTool(
            server: server, folder: folder, url: try #require(told["issuer"]?.string), token: token)
        do {
            try await body(tool)
        } catch {
            server.send(SIGKILL)
            throw error
        }
        server.send(SIGTERM)
        // A test that ended it by itself has looked at how it ended.
        let result = try await server.result()
        #expect([0, 128 + SIGKILL].contains(result.status))
        #expect(try tool.search().names(in: result.output + result.errors) == [])
    }

    private func environment(_ token: String?) -> [String: String] {
        ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": token ?? self.token, "COUNTERSIGN_DEVICE_HOME": home]
    }

    /// Runs a command, as the operator unless told otherwise.
    func run(
        _ arguments: String..., as token: String? = nil, setting variables: [String: String] = [:], input: String = ""
    ) async throws -> ProgramResult {
        try await Tool.run(arguments, environment: environment(token).merging(variables) { $1 }, input: input)
    }

    /// Starts a command, as the operator unless told otherwise.
    func start(_ arguments: String..., as token: String? = nil) throws -> RunningProgram {
        try Tool.start(arguments, environment: environment(token))
    }

    /// Runs a command that must be done, with `--json`, and returns the object it prints.
    func json(
        _ arguments: String..., as token: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let result = try await Tool.run(arguments + ["--json"], environment: environment(token))
        #expect(result.status == 0, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
        #expect(result.errors.isEmpty, sourceLocation: sourceLocation)
        let json = try result.json(sourceLocation: sourceLocation)
        made.note(json)
        return json
    }

    /// A search for what the server may not print.
    private func search() throws -> SecretSearch {
        let files = try ["master.key", "bootstrap.token"].map { name in
            let text = String(decoding: try folder.read("server data/\(name)"), as: UTF8.self)
            return SecretForms(name, text: text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return SecretSearch(files + made.secrets)
    }

    /// A client, a user named customer-1 and a device enrolled for them.
    ///
    /// - Returns: the client's token.
    func furnish() async throws -> String {
        _ = try await json("type", "set", "payment", "--expires-in", "180")
        let client = try await json("client", "create", "--name", "ACME Shop")
        let id = try #require(client["client_id"]?.string)
        let shop = "\(id):\(try #require(client["client_secret"]?.string))"
        _ = try await json("user", "create", "--external-id", "customer-1", as: shop)
        let ticket = try #require(try await json("user", "ticket", "customer-1", as: shop)["qr"]?.string)
        _ = try await json("device", "enroll", "--ticket", ticket)
        return shop
    }

    /// Asks customer-1 for a payment.
    func ask(as shop: String) async throws -> (id: String, number: String) {
        let asked = try await json(
            "challenge", "ask", "--user", "customer-1", "--type", "payment", "--message", "Pay EUR 1,250.00?",
            "--detail", "Payee=ACME GmbH", as: shop)
        return (try #require(asked["id"]?.string), try #require(asked["number"]?.string))
    }
}
