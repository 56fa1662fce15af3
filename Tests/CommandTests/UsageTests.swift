import CountersignWire
import Encodings
import Foundation
import TestSupport
import Testing

@Suite("The tool explains itself, and ends by documented codes", .timeLimit(.minutes(15)))
struct UsageTests {
    static let commands: [[String]] = [
        [], ["serve"], ["demo"], ["client"], ["client", "create"], ["client", "update"],
        ["client", "renew-secret"], ["client", "renew-callback-secret"], ["client", "disable"], ["client", "enable"],
        ["client", "delete"], ["client", "list"], ["client", "openid"],
        ["client", "openid", "set"], ["client", "openid", "show"], ["client", "openid", "remove"],
        ["client", "openid", "look"], ["client", "openid", "look", "set"], ["client", "openid", "look", "show"],
        ["client", "openid", "look", "remove"], ["user"], ["user", "claims"],
        ["user", "create"],
        ["user", "ticket"], ["user", "devices"], ["user", "remove-device"], ["user", "block"],
        ["user", "list"], ["user", "show"], ["user", "delete"], ["user", "export"], ["type"],
        ["type", "list"], ["type", "remove"], ["challenge", "list"], ["admin", "events"],
        ["type", "set"], ["challenge"], ["challenge", "ask"], ["challenge", "show"], ["challenge", "cancel"],
        ["challenge", "receipt"], ["challenge", "resend"], ["challenge", "code"],
        ["challenge", "return"],
        ["challenge", "enter"], ["device"], ["device", "enroll"],
        ["device", "status"],
        ["device", "watch"],
        ["device", "pending"], ["device", "pin"], ["device", "pin", "show"], ["device", "pin", "set"],
        ["device", "pin", "change"], ["device", "pin", "remove"],
        ["device", "biometric"], ["device", "biometric", "register"], ["device", "biometric", "remove"],
        ["device", "custom"], ["device", "custom", "show"], ["device", "custom", "register"],
        ["device", "custom", "deregister"],
        ["device", "others"], ["device", "others", "list"], ["device", "others", "suspend"],
        ["device", "others", "resume"], ["device", "others", "remove"], ["device", "others", "undo"],
        ["device", "scan"], ["device", "open"], ["device", "answer"], ["device", "remove"], ["login"], ["logout"],
        ["verify"], ["admin"],
        ["admin", "bootstrap"], ["admin", "key"],
        ["admin", "key", "rotate"], ["admin", "key", "finish"], ["admin", "backup"], ["admin", "migrate"],
        ["admin", "doctor"], ["admin", "locks"], ["admin", "locks", "list"], ["admin", "locks", "end"],
        ["admin", "outbox"], ["admin", "outbox", "list"], ["admin", "outbox", "retry"],
        ["admin", "enrollment"], ["admin", "enrollment", "list"], ["admin", "enrollment", "remove"],
        ["admin", "enrollment", "suspend"], ["admin", "enrollment", "resume"], ["admin", "enrollment", "confirm"],
        ["admin", "enrollment", "waive"], ["admin", "passkey"], ["admin", "passkey", "list"],
        ["admin", "passkey", "remove"], ["admin", "address"], ["admin", "address", "list"],
        ["admin", "address", "remove"], ["admin", "user-code"], ["admin", "user-code", "remove"],
        ["admin", "issuer-key"], ["admin", "issuer-key", "list"], ["admin", "issuer-key", "rotate"],
        ["admin", "test-message"], ["config"],
        ["config", "check"], ["config", "reference"],
    ]

    @Test("--help explains every command", arguments: commands)
    func help(_ command: [String]) async throws {
        let result = try await Tool.run(command + ["--help"])
        #expect(result.status == 0)
        #expect(result.output.contains("OVERVIEW: "))
        #expect(result.output.contains("USAGE: \((["countersign"] + command).joined(separator: " "))"))
        #expect(result.errors.isEmpty)
        // Every subcommand it lists is one of those tested here.
        let listed = result.output.components(separatedBy: "SUBCOMMANDS:").dropFirst().first ?? ""
        for line in listed.split(separator: "\n") where line.hasPrefix("  ") && !line.hasPrefix("   ") {
            // Behind a comma stands another name of the same command.
            let name = String(line.dropFirst(2).prefix { $0 != " " && $0 != "," })
            // "See 'countersign help …' for detailed help." ends the list.
            if name == "See" { continue }
            #expect(Self.commands.contains(command + [name]), "\(name) is not tested")
        }
    }

    @Test("--version tells the version, before every command, and config check the same")
    func version() async throws {
        let result = try await Tool.run(["--version"])
        #expect(result.status == 0 && result.output == "0.1.0\n")
        for command in [["config"], ["config", "check"], ["serve"], ["device"]] {
            #expect(try await Tool.run(command + ["--version"]).output == result.output)
        }
        let folder = try TemporaryFolder()
        let checked = try await RunningProgram.run(
            try Tool.path, ["config", "check", "--json"], environment: [:], in: folder.url)
        #expect(try checked.json()["version"] == .string(String(result.output.dropLast())))
    }

    /// What a command writes to standard error when it is asked for JSON: one object on one line.
    private func error(
        _ arguments: [String], _ status: Int32, environment: [String: String] = [:], input: String = "",
        in folder: URL? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let result = try await Tool.run(
            arguments + ["--json"], environment: environment, input: input, in: folder)
        #expect(result.status == status, "\(result.errors)", sourceLocation: sourceLocation)
        #expect(
            result.errors.hasSuffix("\n") && result.errors.count { $0 == "\n" } == 1, sourceLocation: sourceLocation)
        let plain = try await Tool.run(arguments, environment: environment, input: input, in: folder)
        #expect(plain.status == status, "the same without", sourceLocation: sourceLocation)
        #expect(!plain.errors.hasPrefix("{"), sourceLocation: sourceLocation)
        let object = try JSONValue(parsing: Array(result.errors.dropLast().utf8))
        #expect(object["detail"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
        return object
    }

    @Test("With --json an error is one line of JSON on standard error, with a code, and the status stays")
    func errorsAsJSON() async throws {
        let folder = try TemporaryFolder()
        #expect(try await error(["user", "create"], 2)["code"] == "usage", "nobody says who asks")
        #expect(try await error(["user", "bogus"], 2)["code"] == "usage")
        let unreachable = try await error(["user", "create"], 3, environment: ["COUNTERSIGN_TOKEN": "cst_x"])
        #expect(unreachable["code"] == "unreachable")
        #expect(unreachable["detail"]?.string?.contains("http://127.0.0.1:1 cannot be reached") == true)
        let home = folder.path("phone")
        let device = try await error(["device", "pending", "--home", home], 1)
        #expect(device["code"] == "not_enrolled" && device["suggestion"] == "Enroll this device first.")
        let start = try await error(["serve"], 2, environment: ["COUNTERSIGN_PROT": "1"], in: folder.url)
        #expect(start["code"] == "configuration_invalid")
        #expect(start["faults"]?.array?.first?["what"] == "There is no variable COUNTERSIGN_PROT.")
        let checked = try await Tool.run(
            ["config", "check", "--json"], environment: ["COUNTERSIGN_PROT": "1"], in: folder.url)
        #expect(checked.status == 1)
        #expect(try checked.json()["faults"] == start["faults"], "a variable nobody knows is named by both")
        // Behind two hyphens nothing is an option: it is an argument, and a person reads.
        let behind = try await Tool.run(["device", "open", "--home", home, "--", "--json"])
        #expect(behind.status == 1 && !behind.errors.hasPrefix("{"))
        // Help and version are no errors.
        #expect(try await Tool.run(["--help", "--json"]).output.hasPrefix("OVERVIEW: "))
    }

    @Test(
        "Wrong usage ends with 2, and says what is wrong",
        arguments: [
            ["config", "bogus"], ["serve", "--log-level", "loud"], ["serve", "--proxies", "10.0.0.1/8"],
            ["bogus"], ["--bogus"], ["serve", "--bogus"], ["serve", "surplus"], ["serve", "--port", "many"],
            ["serve", "--port", "65536"], ["serve", "--port=-1"], ["serve", "--issuer", "ftp://example.com"],
            ["serve", "--issuer", "http://example.com"], ["serve", "--issuer", "https://example.com/path"],
            ["demo", "--port", "65536"], ["client", "bogus"], ["client", "create"],
            ["client", "create", "--name", "x"], ["user", "ticket"], ["type", "set"],
            ["type", "set", "x", "--expires-in", "soon"], ["challenge", "ask"],
            ["challenge", "ask", "--user", "u"], ["challenge", "ask", "--message", "m"],
            ["challenge", "ask", "--user", "u", "--message", "m", "--detail", "no separator"],
            ["challenge", "ask", "--user", "u", "--message", "m", "--wait=-1"],
            ["challenge", "ask", "--user", "u", "--message", "m", "--wait", "86401"],
            ["admin", "test-message"],
            ["admin", "test-message", "--email", "a@example.com", "--phone", "+15551234567"],
            ["challenge", "show"], ["device", "enroll"], ["device", "answer", "chl_x"],
            ["device", "enroll", "--ticket", "x", "--client", "x"],
            ["device", "enroll", "--ticket", "x", "--issuer", "http://127.0.0.1:1"], ["login"],
            ["login", "--client", "x", "--pin"], ["login", "--client", "x", "--by-device", "--open"],
            ["login", "--client", "x", "--by-device", "--max-age", "1"],
            ["login", "--client", "x", "--by-device", "--scope", "enroll"],
            ["login", "--client", "x", "--by-device", "--device"],
            ["login", "--client", "x", "--by-device", "--login-hint", "a@example.com"],
            ["login", "--client", "x", "--device", "--pin"], ["login", "--client", "x", "--device", "--open"],
            ["login", "--client", "x", "--device", "--max-age", "1"],
            ["login", "--client", "x", "--device", "--scope", "enroll"], ["login", "--device"],
            ["device", "answer", "chl_x", "--approve", "--deny"], ["verify"], ["verify", "--receipt", "x"],
            ["verify", "--receipt", "missing", "--certificate", "missing"],
        ])
    func usage(_ arguments: [String]) async throws {
        let folder = try TemporaryFolder()
        let result = try await Tool.run(arguments, in: folder.url)
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.output.isEmpty)
        #expect(result.errors.count > 10 && result.errors.hasSuffix("\n"))
        #expect(!result.errors.contains("Fatal error"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test("Without a subcommand the tool shows its help")
    func bare() async throws {
        let result = try await Tool.run([])
        #expect(result.output.contains("SUBCOMMANDS:") || result.errors.contains("SUBCOMMANDS:"))
    }

    @Test(
        "A server that is not reached ends with 3",
        arguments: [
            "http://127.0.0.1:1", "http://nobody.invalid", "https://127.0.0.1:1", "http://[::1]:1", "not a url",
        ])
    func unreachable(_ url: String) async throws {
        let environment = ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": "cst_x"]
        for arguments in [["user", "create"], ["type", "list"], ["challenge", "show", "chl_x", "--json"]] {
            let (result, time) = try await Turnstile.pass {
                let start = ContinuousClock.now
                return (try await Tool.run(arguments, environment: environment), start.duration(to: .now))
            }
            #expect(result.status == 3, "\(result.errors)")
            #expect(result.output.isEmpty)
            #expect(result.errors.contains(url))
            #expect(time < .seconds(9), "nobody waits so long to hear that nothing is there")
        }
    }

    @Test("A device that does not reach its server ends with 3, and keeps nothing")
    func unreachableDevice() async throws {
        let folder = try TemporaryFolder()
        let (zeros, fingerprint) = (String(repeating: "0", count: 26), String(repeating: "A", count: 40))
        let members: JSONValue = [
            "issuer": "http://127.0.0.1:1", "ticket": "ctt_x", "fingerprint": .string(fingerprint),
            "user": .string("usr_\(zeros)"), "enrollment": .string("enr_\(zeros)"),
        ]
        let ticket = Base64.encode(members.encoded)
        let home = folder.path("phone")
        let result = try await Tool.run(["device", "enroll", "--home", home, "--ticket", ticket])
        #expect(result.status == 3, "\(result.errors)")
        #expect(!result.errors.contains("ctt_x"))
        let pending = try await Tool.run(["device", "pending", "--home", home])
        #expect(pending.status == 1)
        #expect(pending.errors.contains("Enroll this device first."))
    }

    @Test("Commands that act for somebody ask who that is")
    func noToken() async throws {
        let result = try await Tool.run(["user", "create"])
        #expect(result.status == 2)
        #expect(result.errors.contains("--token") && result.errors.contains("COUNTERSIGN_TOKEN"))
    }
}
