import Encodings
import Foundation
import TestSupport
import Testing

@Suite("Challenge types of a file", .timeLimit(.minutes(15)))
struct TypeFileTests {
    /// Runs something while a server serves that reads a file of types.
    private static func serving(
        _ types: String, in folder: TemporaryFolder,
        _ body: (_ run: @Sendable (String...) async throws -> JSONValue) async throws -> Void
    ) async throws {
        try await Turnstile.pass {
            _ = try folder.write("types.json", Array(types.utf8))
            let (server, told) = try await ServedTool.start(in: folder, ["--type-file", folder.path("types.json")])
            let url = try #require(told["issuer"]?.string)
            let token = String(decoding: try folder.read("server data/bootstrap.token"), as: UTF8.self)
            let environment = [
                "COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": token.trimmingCharacters(in: .whitespacesAndNewlines),
            ]
            do {
                try await body { (arguments: String...) in
                    let result = try await Tool.run(arguments + ["--json"], environment: environment)
                    #expect(result.status == 0, "\(arguments): \(result.errors)")
                    return try result.json()
                }
            } catch {
                server.send(SIGKILL)
                throw error
            }
            server.send(SIGTERM)
            #expect(try await server.result().status == 0)
        }
    }

    private static func names(_ list: JSONValue) -> [String] {
        (list["types"]?.array ?? []).compactMap { $0["name"]?.string }
    }

    private static func payment(_ list: JSONValue) -> JSONValue? {
        list["types"]?.array?.first { $0["name"] == "payment" }
    }

    @Test("They are set at each start, others stay, and what `type list --json` prints is such a file")
    func eachStart() async throws {
        let folder = try TemporaryFolder()
        let types = #"{"types": [{"name": "payment", "expires_in": 60, "texts": {"de": "Zahlen?"}}]}"#
        var printed: JSONValue = [:]
        try await Self.serving(types, in: folder) { run in
            let list = try await run("type", "list")
            #expect(Self.names(list) == ["biometric", "confirm", "payment", "pin", "qr"])
            #expect(Self.payment(list)?["expires_in"] == 60)
            #expect(Self.payment(list)?["texts"] == ["de": "Zahlen?"])
            _ = try await run("type", "set", "payment", "--expires-in", "90")
            printed = try await run("type", "set", "login", "--expires-in", "30")
        }
        try await Self.serving(types, in: folder) { run in
            let list = try await run("type", "list")
            #expect(Self.names(list) == ["biometric", "confirm", "login", "payment", "pin", "qr"])
            #expect(Self.payment(list)?["expires_in"] == 60, "the file counts anew")
            printed = list
        }
        let elsewhere = try TemporaryFolder()
        try await Self.serving(String(decoding: printed.encoded, as: UTF8.self), in: elsewhere) { run in
            let list = try await run("type", "list")
            #expect(list == printed)
        }
    }

    @Test(
        "A file that cannot be used is said by `config check` and at the start, with the place, and nothing is begun",
        arguments: [
            ("types", "cannot be used: it is not JSON."), ("[]", "cannot be used: the body must be an object."),
            (#"{"typs": []}"#, "cannot be used: /typs is not known."),
            (#"{"types": [{}]}"#, "cannot be used: /types/0/name is missing."),
            (
                #"{"types": [{"name": "Payment"}]}"#,
                "/types/0/name must be a name of lower case letters, digits, - and _."
            ),
            (
                #"{"types": [{"name": "a"}, {"name": "a"}]}"#,
                "/types/1/name must be another name: it stands there twice."
            ),
            (
                #"{"types": [{"name": "a", "expires_in": 5}]}"#,
                "/types/0/expires_in must be a whole number from 10 to 86400."
            ),
            (
                #"{"types": [{"name": "a", "texts": {"de": "Zahlen? "}}]}"#,
                "/types/0/texts/de may not be shown to anybody: trailing_blank."
            ),
        ])
    func faults(_ types: String, fault: String) async throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("types.json", Array(types.utf8))
        let checked = try await Tool.run(["config", "check", "--type-file", "types.json"], in: folder.url)
        #expect(checked.status == 1 && checked.output.isEmpty)
        #expect(checked.errors.contains(fault), "\(checked.errors)")
        let started = try await Tool.run(
            ["serve", "--port", "0", "--data", "data", "--type-file", "types.json"], in: folder.url)
        #expect(started.status == 1)
        #expect(started.errors.contains(fault), "\(started.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("data/countersign.sqlite")))
    }
}
