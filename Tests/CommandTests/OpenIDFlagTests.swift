import Encodings
import Foundation
import TestSupport
import Testing

@testable import CountersignCommand

@Suite("countersign client openid set: what is refused is named as it was typed", .timeLimit(.minutes(15)))
struct OpenIDFlagTests {
    @Test("A refusal names the flag, and those that it needs or excludes; a script reads the member beside it")
    func refused() async throws {
        try await ServedTool.with { tool in
            let id = try #require(try await tool.json("client", "create", "--name", "ACME Shop")["client_id"]?.string)
            let file = tool.folder.path("details.json")
            try Data(#"[{"type": 5}]"#.utf8).write(to: URL(filePath: file))
            func set(_ arguments: [String]) async throws -> ProgramResult {
                try await Tool.run(
                    ["client", "openid", "set", id, "--profile", "web"] + arguments,
                    environment: ["COUNTERSIGN_URL": tool.url, "COUNTERSIGN_TOKEN": tool.token])
            }
            let page = ["--redirect-uri", "https://shop.example.com/callback"]
            let told = ["--backchannel-notification-uri", "https://shop.example.com/told"]
            let api = "https://api.example.com"
            let refusals: [(arguments: [String], text: String)] = [
                ([], "--redirect-uri must be 1 to "),
                (["--redirect-uri", "http://shop.example.com/"], "--redirect-uri must be an https URL"),
                (page + told, "--backchannel-notification-uri must be nothing without --backchannel"),
                (
                    page + ["--backchannel", "ping", "--backchannel-number-entry"],
                    #"--backchannel-notification-uri must be a URL with the modes "ping" and "push""#
                ),
                (page + ["--may-use", "x"], "--may-use must be an absolute URI without a fragment"),
                (page + ["--resource", "x", "--resource-scope", "read"], "--resource must be an absolute URI"),
                (page + ["--resource", api, "--resource-scope", "a b"], "--resource-scope must be the name of a "),
                (page + ["--way", "pigeon"], "--way must be one of "),
                (page + ["--id-token-alg", "PS256"], #"--id-token-alg must be one of "ES256", "RS256""#),
                (
                    page + ["--way", "qr", "--way", "text"],
                    #"--calling-code must be at least one, where --way has "text""#
                ),
                (
                    page + ["--device-login-hint"],
                    #"--device-login-hint must be false without --device-grant, and where --way lacks "device""#
                ),
                (page + ["--authorization-details", file], "--authorization-details at /0/type must be 1 to 100 "),
            ]
            for (arguments, text) in refusals {
                let refused = try await set(arguments)
                #expect(refused.status == 1 && refused.errors.contains(": \(text)"), "\(text): \(refused.errors)")
            }
            let refused = try await set(["--redirect-uri", "http://shop.example.com/", "--json"])
            let report = try JSONValue(parsing: Array(refused.errors.dropLast().utf8))
            #expect(report["code"] == "invalid_member" && report["pointer"] == "/redirect_uris/0", "\(report)")
            #expect(report["detail"]?.string?.hasPrefix("--redirect-uri must be an https URL") == true, "\(report)")
        }
    }

    @Test("Each of the names is one of a flag of the command")
    func flags() async throws {
        let help = try await Tool.run(["client", "openid", "set", "--help"]).output
        let words = help.split { $0 == " " || $0 == "\n" }
        for flag in ClientCommand.OpenID.Set.flags.values { #expect(words.contains("--\(flag)"), "\(flag)") }
    }
}
