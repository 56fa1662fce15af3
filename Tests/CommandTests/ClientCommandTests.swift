import Encodings
import TestSupport
import Testing

@Suite("countersign client: made, changed, and given a new secret for callbacks", .timeLimit(.minutes(15)))
struct ClientCommandTests {
    @Test("What is named changes, what is not stays; the password comes from a variable and is never shown")
    func update() async throws {
        try await ServedTool.with { tool in
            let made = try await tool.json(
                "client", "create", "--name", "ACME Shop", "--callback", "https://shop.example.com/hook")
            let id = try #require(made["client_id"]?.string)
            let password = ["COUNTERSIGN_CALLBACK_PASSWORD": "open sesame"]
            let changed = try await tool.run(
                "client", "update", id, "--name", "ACME Bank", "--callback-username", "acme", "--json",
                setting: password)
            #expect(changed.status == 0 && !changed.output.contains("sesame"))
            let client = try changed.json()
            #expect(client["name"] == "ACME Bank")
            #expect(client["callback_uris"] == ["https://shop.example.com/hook"])
            #expect(client["callback_username"] == "acme")
            let without = try await tool.json(
                "client", "update", id, "--no-callback", "--no-callback-basic", "--right", "challenges",
                "--waive-enrollment-approval")
            #expect(without["callback_uris"] == [] && without["callback_username"] == nil)
            #expect(without["rights"] == ["challenges"] && without["waive_enrollment_approval"] == true)
            let list = try await tool.run("client", "list")
            #expect(list.output.contains("\(id)  ACME Bank\n"))
            let refused = try await tool.run("client", "update", id, "--callback-username", "acme")
            #expect(refused.status == 2)
            #expect(refused.errors.contains("--callback-username needs the password in the variable"))
            let unknown = try await tool.run("client", "update", "cli_none", "--name", "x")
            #expect(unknown.errors.hasPrefix("There is no such client\n"))
        }
    }

    @Test("A new secret for callbacks is shown with the time until which the earlier one signs")
    func renew() async throws {
        try await ServedTool.with { tool in
            let made = try await tool.json("client", "create", "--name", "ACME Shop")
            let id = try #require(made["client_id"]?.string)
            let renewed = try await tool.json("client", "renew-callback-secret", id, "--overlap", "60")
            #expect(renewed["callback_secret"]?.string?.hasPrefix("whsec_") == true)
            #expect(renewed["callback_secret"] != made["callback_secret"])
            #expect(renewed["earlier_until"]?.string?.isEmpty == false)
            let shown = try await tool.run("client", "renew-callback-secret", id)
            #expect(shown.output.contains("The earlier ones sign beside them until 20"))
        }
    }
}
