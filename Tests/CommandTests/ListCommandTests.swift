import Encodings
import Foundation
import TestSupport
import Testing

@testable import CountersignCommand

@Suite("countersign admin events, user, type and challenge: lists")
struct ListCommandTests {
    private static func text(_ arguments: String..., of tool: ServedTool) async throws -> String {
        let result = try await Tool.run(
            arguments, environment: ["COUNTERSIGN_URL": tool.url, "COUNTERSIGN_TOKEN": tool.token])
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result.output
    }

    @Test("Lists are printed for whom the token is of, events in three formats, and a cursor file goes on")
    func lists() async throws {
        try await ServedTool.with { tool in
            let client = try await tool.json("client", "create", "--name", "Shop")
            let shop = "\(client["client_id"]?.string ?? ""):\(client["client_secret"]?.string ?? "")"
            let user = try await tool.json("user", "create", "--external-id", "customer-1", as: shop)
            let id = try #require(user["id"]?.string)
            #expect(try await tool.json("user", "list", as: shop)["users"]?.array?.count == 1)
            let everybody = try await tool.json("user", "list")
            #expect(everybody["users"]?.array?.first?["links"]?.array?.count == 1)
            #expect(try await tool.json("user", "show", "customer-1", as: shop)["id"]?.string == id)
            #expect(try await tool.json("challenge", "list", as: shop) == ["challenges": []])
            _ = try await tool.json("type", "set", "spare", "--method", "confirm")
            _ = try await tool.json("type", "remove", "spare")
            let types = try await tool.json("type", "list", as: shop)
            #expect(types["types"]?.array?.contains { $0["name"] == "spare" } == false)
            let file = tool.folder.path("cursor")
            let first = try await Self.text("admin", "events", "--format", "jsonl", "--cursor-file", file, of: tool)
            #expect(first.split(separator: "\n").allSatisfy { (try? JSONValue(parsing: Array($0.utf8))) != nil })
            #expect(first.contains("\"type.removed\""))
            #expect(try await Self.text("admin", "events", "--format", "jsonl", "--cursor-file", file, of: tool) == "")
            _ = try await tool.json("user", "delete", "customer-1", as: shop)
            let cef = try await Self.text("admin", "events", "--format", "cef", "--cursor-file", file, of: tool)
            #expect(cef.hasPrefix("CEF:0|Countersign|") && cef.contains("|user.deleted|") && cef.contains("duid=\(id)"))
            let kinds = try await Self.text("admin", "events", "--kind", "user.deleted", of: tool)
            #expect(kinds.split(separator: "\n").count == 1)
            let export = try await Self.text("user", "export", id, of: tool)
            #expect(export.split(separator: "\n").last?.hasPrefix("{\"end\":") == true)
        }
    }

    @Test("The assurance of a type is set and shown where it is less than usual, and left out it is the usual one")
    func assurance() async throws {
        try await ServedTool.with { tool in
            let weak = try await tool.run("type", "set", "tap", "--no-number-entry", "--assurance", "event")
            #expect(weak.output.hasPrefix("tap: confirm, no number entry, assurance event, "), "\(weak.output)")
            let wrong = try await tool.run("type", "set", "tap", "--assurance", "some")
            #expect(wrong.status == 1 && wrong.errors.contains("/assurance must be \"receipt\""), "\(wrong.errors)")
            let kept = try await tool.json("type", "list")["types"]?.array?.first { $0["name"] == "tap" }
            #expect(kept?["assurance"] == "event")
            #expect(try await tool.json("type", "set", "tap")["assurance"] == "receipt")
        }
    }

    @Test("Operators list the addresses and passkeys of any user; what is not there is not removed")
    func waysToSignIn() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let user = try #require(
                try await tool.json("user", "create", "--email", "anna@example.com", as: shop)["id"]?.string)
            let addresses = try await tool.json("admin", "address", "list", user)["addresses"]?.array
            #expect(addresses?.count == 1 && addresses?.first?["address"] == "anna@example.com")
            let text = try await Self.text("admin", "address", "list", user, of: tool)
            #expect(text.hasPrefix("anna@example.com  said by cli_"), "\(text)")
            let removed = try await tool.json("admin", "address", "remove", user, "anna@example.com")
            #expect(removed == ["removed": "anna@example.com"])
            let address = try await tool.run("admin", "address", "remove", user, "anna@example.com")
            #expect(address.status == 1 && address.errors.hasPrefix("The user has proved no such address"))
            #expect(try await tool.json("admin", "passkey", "list", user) == ["passkeys": []])
            #expect(try await Self.text("admin", "passkey", "list", user, of: tool) == "There is none.\n")
            let passkey = try await tool.run("admin", "passkey", "remove", user, "psk_01kah3b1g00000000000000000")
            #expect(passkey.status == 1 && passkey.errors.hasPrefix("The user has no such passkey"))
            let code = try await tool.json("admin", "user-code", "remove", user)
            #expect(code == ["removed": .string(user)])
        }
    }

    @Test("Operators list devices, whosever they are, by how they stand, and act on any of them")
    func devices() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            func ids(_ filter: String...) async throws -> [String] {
                let result = try await Tool.run(
                    ["admin", "enrollment", "list", "--json"] + filter,
                    environment: ["COUNTERSIGN_URL": tool.url, "COUNTERSIGN_TOKEN": tool.token])
                #expect(result.status == 0, "\(result.errors)")
                return (try result.json()["enrollments"]?.array ?? []).compactMap { $0["enrollment"]?.string }
            }
            let all = try await ids()
            let id = try #require(all.count == 1 ? all.first : nil)
            let user = try #require(try await tool.json("user", "show", "customer-1", as: shop)["id"]?.string)
            let text = try await Self.text("admin", "enrollment", "list", of: tool)
            #expect(text.hasPrefix("\(user)  \(id)  active  Terminal phone  "), "\(text)")
            #expect(try await tool.json("admin", "enrollment", "suspend", id) == ["suspended": .string(id)])
            #expect(try await ids("--state", "suspended", "--user", user) == [id])
            #expect(try await tool.json("admin", "enrollment", "resume", id) == ["resumed": .string(id)])
            #expect(try await ids("--state", "suspended") == [])
            let removed = try await tool.json("admin", "enrollment", "remove", id, "--lost")
            #expect(removed == ["removed": .string(id), "reason": "lost"])
            #expect(try await ids("--state", "removed") == [id])
            #expect(try await ids("--state", "active") == [])
            let stranger = try await tool.run("admin", "enrollment", "list", as: shop)
            #expect(stranger.status == 1 && stranger.errors.hasPrefix("The client may not do this"))
        }
    }
}
