import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("Custom authenticators at a prompt", .timeLimit(.minutes(10)))
struct CustomCommandTests {
    /// The tool with a client whose hook says these things, a type that asks for it first, and a phone.
    private static func with(
        _ verdicts: [JSONValue], _ body: @escaping @Sendable (ServedTool, String) async throws -> Void
    ) async throws {
        try await CallbackReceiver.with(saying: verdicts) { receiver in
            try await ServedTool.with { tool in
                let shop = try await tool.furnish()
                let client = try #require(shop.split(separator: ":").first.map(String.init))
                let updated = try await tool.json(
                    "client", "update", client, "--authenticator", "phrase=\(receiver.url)", "--authenticator-attempts",
                    "2",
                    "--authenticator-deadline", "3")
                #expect(
                    updated["authenticators"]
                        == [["name": "phrase", "hook": .string(receiver.url), "deadline": 3, "attempts": 2]])
                _ = try await tool.json(
                    "type", "set", "spoken", "--method", "custom:phrase", "--method", "pin", "--no-number-entry")
                try await body(tool, shop)
            }
        }
    }

    @Test("Registered, tried twice, refused, and answered by the PIN, each by a command")
    func commands() async throws {
        let verdicts: [JSONValue] = [
            ["result": "ok", "payload": "hello \u{202E}"], ["result": "retry"], ["result": "ok", "payload": "seen"],
            ["result": "fail"],
        ]
        try await Self.with(verdicts) { tool, shop in
            let none = try await tool.run("device", "custom", "show")
            #expect(none.output == "phrase: not registered\n")
            let registered = try await tool.run("device", "custom", "register", "phrase", input: "correct horse\n")
            #expect(registered.output.hasPrefix("phrase is registered.\nIt says: hello "))
            #expect(!registered.output.contains("\u{202E}"), "what a hook says does nothing to a terminal")
            _ = try await tool.run("device", "pin", "set", input: "83517\n")
            func ask() async throws -> String? {
                try await tool.json(
                    "challenge", "ask", "--user", "customer-1", "--type", "spoken", "--message", "Open?", as: shop
                )["id"]?.string
            }
            let id = try #require(try await ask())
            let retry = try await tool.run("device", "answer", id, "--approve", input: "battery staple\n")
            #expect(retry.status == 1 && retry.errors.contains("1 attempt is left"))
            let approved = try await tool.run("device", "answer", id, "--approve", input: "correct horse\n")
            #expect(approved.output == "\(id): approved.\nIt says: seen\n")
            #expect(try await tool.json("challenge", "show", id, as: shop)["method"] == "custom:phrase")
            let other = try #require(try await ask())
            let failed = try await tool.run(
                "device", "answer", other, "--approve", "--method", "custom:phrase", input: "correct horse\n")
            #expect(failed.status == 1 && failed.errors.contains("registered no more"))
            let byPIN = try await tool.run(
                "device", "answer", other, "--approve", "--method", "pin", input: "83517\n")
            #expect(byPIN.output == "\(other): approved.\n")
            #expect(try await tool.json("challenge", "show", other, as: shop)["method"] == "pin")
            let gone = try await tool.run("device", "custom", "deregister", "phrase", input: "83517\n")
            #expect(gone.status == 1 && gone.errors.contains("not registered for this device"))
        }
    }

    @Test("A person at the terminal phone is asked again, and for the PIN when the hook refuses")
    func watching() async throws {
        let verdicts: [JSONValue] = [["result": "ok"], ["result": "retry"], ["result": "fail"]]
        try await Self.with(verdicts) { tool, shop in
            _ = try await tool.run("device", "custom", "register", "phrase", input: "correct horse\n")
            _ = try await tool.run("device", "pin", "set", input: "83517\n")
            let asked = try await tool.json(
                "challenge", "ask", "--user", "customer-1", "--type", "spoken", "--message", "Open?", as: shop)
            let id = try #require(asked["id"]?.string)
            let watching = try tool.start("device", "watch")
            _ = await watching.line(holding: "Open?")
            for line in ["y", "battery staple", "staple battery", "83517"] { try watching.type(line) }
            _ = await watching.line(holding: "Approved.")
            #expect(try await tool.json("challenge", "show", id, as: shop)["method"] == "pin")
            watching.send(SIGTERM)
            let result = try await watching.result()
            #expect(result.output.contains("1 attempt is left") && result.output.contains("registered no more"))
            #expect(!result.output.contains("battery"))
        }
    }
}
