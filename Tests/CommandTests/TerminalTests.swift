import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignCommand

@Suite("What the tool prints steers no terminal")
struct TerminalTests {
    private static let hostile = "x\u{1B}[31m\u{9B}2J\u{202E}\u{200B}"
    private static let escaped = "x\\u{1b}[31m\\u{9b}2J\\u{202e}\\u{200b}"

    @Test("Plain output and errors escape what is not plain text; --json escapes it as JSON does")
    func output() async throws {
        let plain = try await Tool.run(["config", "check", "--data", Self.hostile])
        #expect(plain.status == 0, "\(plain.errors)")
        #expect(plain.output.contains(Self.escaped))
        let json = try await Tool.run(["config", "check", "--data", Self.hostile, "--json"])
        #expect(json.output.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
        #expect(try JSONValue(parsing: Array(json.output.utf8)).text.contains("\u{202E}"))
        let error = try await Tool.run(["nonsense-\(Self.hostile)"])
        #expect(error.errors.contains(Self.escaped))
        for text in [plain.output, json.output, error.errors] {
            let rest = text.unicodeScalars.filter { $0 != "\n" }
            #expect(!rest.contains { [.control, .format].contains($0.properties.generalCategory) })
        }
    }

    private static let forged = "x\nFORGED"

    /// All that any list has, each field with a second line in it.
    private static let forgery: JSONValue = {
        let text = JSONValue.string(forged)
        let names = [
            "id", "client_id", "client_secret", "callback_secret", "notice_secret", "hook_secret", "earlier_until",
            "name", "external_id", "created_at", "deleted_at", "disabled_at", "enrollment", "state", "fingerprint",
            "fallback", "unknown_browser", "asked_at", "type", "user", "method", "reason", "number", "qr", "at", "kind",
            "challenge", "client", "since", "last_error",
        ]
        var entry = JSONObject()
        for name in names { entry[name] = text }
        entry["links"] = [["client": text, "external_id": text]]
        entry["device"] = ["name": text]
        entry["methods"] = [text]
        entry["texts"] = .members([forged: text])
        entry["clients"] = [text]
        entry["gone_callback_uris"] = [text]
        entry["detail"] = ["device": text]
        entry["code"] = ["link": text, "expires_at": text]
        var reply = entry
        for list in [
            "users", "enrollments", "clients", "types", "challenges", "events", "locks", "messages", "keys", "passkeys",
            "addresses",
        ] {
            reply[list] = [.object(entry)]
        }
        return .object(reply)
    }()

    @Test(
        "What a server says stays in its field: it begins no line of its own",
        arguments: [
            ["user", "list"], ["user", "show", "x"], ["user", "create"], ["user", "ticket", "x"],
            ["user", "devices", "x"], ["client", "list"], ["client", "create", "--name", "x"],
            ["client", "renew-secret", "x"], ["client", "renew-callback-secret", "x"], ["client", "disable", "x"],
            ["type", "list"], ["type", "set", "x"], ["challenge", "list"], ["challenge", "show", "x"],
            ["challenge", "ask"], ["admin", "events"], ["admin", "locks"], ["admin", "outbox"],
            ["admin", "enrollment", "list"], ["admin", "issuer-key"], ["admin", "passkey", "list", "x"],
            ["admin", "address", "list", "x"],
        ])
    func fields(_ command: [String]) async throws {
        let result = try await LocalServer.with(answering: Self.forgery) { url in
            try await Tool.run(command, environment: ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": "x"])
        }
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("x\\u{a}FORGED"), "nothing was shown that could be forged")
        #expect(!result.output.split(separator: "\n").contains { $0.hasPrefix("FORGED") }, "\(result.output)")
    }

    @Test("What a server says of an error stays in its line, and lines of JSON stay JSON")
    func errors() async throws {
        let problem: JSONValue = [
            "code": "user_not_found", "status": 404, "title": .string(Self.forged), "detail": .string(Self.forged),
        ]
        let refused = try await LocalServer.with(answering: problem, status: 404) { url in
            try await Tool.run(
                ["user", "show", "x"], environment: ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": "x"])
        }
        #expect(refused.status == 1)
        let lines = refused.errors.split(separator: "\n")
        #expect(lines.first == "x\\u{a}FORGED: x\\u{a}FORGED" && lines.count == 2)

        let hostile: JSONValue = ["challenge": ["signing_data": .string(Self.hostile)]]
        let export = try await LocalServer.with(answering: ["events": [hostile]]) { url in
            try await Tool.run(
                ["admin", "events", "--format", "jsonl"],
                environment: ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": "x"])
        }
        #expect(try export.json() == hostile)
    }

    @Test("The code of a challenge is drawn without colours where no terminal shows it")
    func plainCode() async throws {
        let code: JSONValue = ["qr": "x", "expires_at": "2026-11-20T10:15:02Z"]
        let replies: [([String], JSONValue)] = [(["code", "x"], code), (["ask"], ["id": "x", "code": code])]
        for (command, reply) in replies {
            let result = try await LocalServer.with(answering: reply) { url in
                try await Tool.run(
                    ["challenge"] + command, environment: ["COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": "x"])
            }
            #expect(result.status == 0, "\(result.errors)")
            let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
            // Of the smallest code with its border: 29 modules.
            let drawn = lines.filter { $0.count == 29 && $0.allSatisfy { " ▀▄█".contains($0) } }
            #expect(drawn.count == 15 && !result.output.contains("[30;107m"), "\(result.output)")
        }
    }

    @Test(
        "Colours are shown on a terminal alone, and not where NO_COLOR is set",
        arguments: [
            (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false), (true, ["NO_COLOR": ""], true),
            (false, ["NO_COLOR": ""], false),
        ] as [(Bool, [String: String], Bool)])
    func colours(_ isTerminal: Bool, _ environment: [String: String], _ areShown: Bool) {
        #expect(TerminalColours.areShown(onTerminal: isTerminal, environment: environment) == areShown)
    }

    @Test("A question of several lines is one line of the list of those that wait")
    func pending() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            _ = try await tool.json(
                "challenge", "ask", "--user", "customer-1", "--type", "payment", "--message", "Pay?\nFORGED", as: shop)
            let pending = try await tool.run("device", "pending")
            #expect(pending.output.hasSuffix("  ACME Shop: Pay?\\u{a}FORGED\n"), "\(pending.output)")
            #expect(pending.output.count { $0 == "\n" } == 1)
        }
    }
}
