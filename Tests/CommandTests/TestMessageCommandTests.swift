import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("countersign admin test-message, and what goes before it", .timeLimit(.minutes(15)))
struct TestMessageCommandTests {
    private static let password = "marker-of-a-mail-password"

    /// Runs something with a server that sends mail by a real one.
    private func with(_ body: @escaping (ServedTool, SMTPPeerProcess, [String: String]) async throws -> Void)
        async throws
    {
        let peer = try await SMTPPeerProcess(
            .init(security: "starttls", credentials: (user: "countersign", password: Self.password)))
        let folder = try TemporaryFolder()
        let environment = [
            "COUNTERSIGN_SMTP_HOST": "localhost", "COUNTERSIGN_SMTP_PORT": "\(peer.port)",
            "COUNTERSIGN_SMTP_FROM": "login@example.com", "COUNTERSIGN_SMTP_USERNAME": "countersign",
            "COUNTERSIGN_SMTP_PASSWORD_FILE": try folder.write("password", Array((Self.password + "\n").utf8)),
            "COUNTERSIGN_SMTP_AUTHORITIES": peer.authorities, "COUNTERSIGN_MESSAGES_SENDER": "ACME",
        ]
        try await ServedTool.with(environment: environment) { try await body($0, peer, environment) }
        try await peer.end()
    }

    private func send(_ tool: ServedTool, _ options: [String]) async throws -> ProgramResult {
        try await Tool.run(
            ["admin", "test-message"] + options,
            environment: ["COUNTERSIGN_URL": tool.url, "COUNTERSIGN_TOKEN": tool.token])
    }

    @Test(
        "A mail arrives at the server that is set up, and a refusal is told with its reason",
        .enabled(if: SMTPPeerProcess.isPresent, "\(SMTPPeerProcess.absence)"))
    func mail() async throws {
        try await with { tool, peer, environment in
            let sent = try await send(tool, ["--email", "me@example.com", "--template", "code", "--language", "de"])
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(sent.output.hasPrefix("evt_") && sent.output.hasSuffix(" was taken: look whether it has come.\n"))
            let mail = try await peer.arrival()
            #expect(mail["headers"]?["subject"]?.string == "Ihr Code für ACME")
            #expect(mail["user"] == "countersign" && mail["tls"] == true)

            try await peer.answer("rcpt", with: "550 5.1.1 no such person")
            let refused = try await send(tool, ["--email", "nobody@example.com", "--json"])
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.errors.hasSuffix(" has not arrived: the mail server answered 550 5.1.1.\"}\n"))
            try await peer.answer("rcpt", with: "451 4.3.0 later")
            let later = try await send(tool, ["--email", "later@example.com"])
            #expect(later.status == 1)
            #expect(
                later.errors.hasSuffix(
                    ": the mail server answered 451 4.3.0. It is tried again: see `countersign admin outbox list "
                        + "--waiting`.\n"))

            var settings = environment
            settings["COUNTERSIGN_ISSUER"] = tool.url
            let doctor = try await Tool.run(["admin", "doctor", "--data", tool.data], environment: settings)
            #expect(doctor.status == 0, "\(doctor.output)")
            #expect(doctor.output.contains("fine: mail: localhost:\(peer.port) lets this server in.\n"))
            settings["COUNTERSIGN_SMTP_PASSWORD_FILE"] = try tool.folder.write("wrong", Array("wrong".utf8))
            let wrong = try await Tool.run(["admin", "doctor", "--data", tool.data], environment: settings)
            #expect(wrong.status == 1)
            #expect(
                wrong.output.contains(
                    "fault: mail: localhost:\(peer.port) cannot be used: the mail server answered 535 5.7.8: the name or "
                        + "password is refused."))
        }
    }

    @Test("In development mode a message is taken by the folder")
    func development() async throws {
        try await ServedTool.with { tool in
            let sent = try await send(tool, ["--phone", "+15551234567", "--json"])
            #expect(sent.status == 0, "\(sent.errors)")
            let id = try #require(try sent.json()["message"]?.string)
            #expect(FileManager.default.fileExists(atPath: "\(tool.data)/outbox/\(id).txt"))
            let wrong = try await send(tool, ["--email", "nobody"])
            #expect(wrong.status == 1 && wrong.errors.contains("/email must be a mail address"))
        }
    }

    @Test(
        "What is missing or cannot be used is told before the start, by name",
        arguments: [
            (["smtp.host: mail.example.com"], "smtp.host is set, and smtp.from is not. Set both, or neither."),
            (
                ["smtp.host: localhost", "smtp.from: a@example.com", "smtp.username: a"],
                "smtp.username is set, and smtp.password_file is not. Set both, or neither."
            ),
            (["sms.from: ACME"], "sms.from is set, and sms.url is not. Set sms.url, too."),
            (
                ["sms.url: https://gateway.example.com", "sms.from: ACME"],
                "sms.url is set, and sms.body is not. Set sms.body, too."
            ),
            (
                [
                    "smtp.host: localhost", "smtp.from: a@example.com", "smtp.username: a",
                    "smtp.password_file: nowhere",
                ],
                "nowhere cannot be read. It must hold a secret."
            ),
            (
                [
                    "smtp.host: mail.example.com", "smtp.from: a@example.com", "smtp.username: a",
                    "smtp.password_file: secret", "smtp.security: none",
                ],
                "A password would go to mail.example.com in the clear. Set smtp.security to starttls."
            ),
            (
                ["sms.url: http://gateway.example.com", "sms.from: ACME", "sms.body: \"{{to}}{{text}}\""],
                "Text messages cannot be sent: the gateway's URL must be https, or http to this machine, without a name "
                    + "in it."
            ),
            (
                ["messages.templates: nowhere"],
                "The templates cannot be used: nowhere is no folder that can be read."
            ),
        ])
    func faults(_ lines: [String], fault: String) async throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("secret", Array("secret".utf8))
        var sections: [String: [String]] = [:]
        for line in lines {
            let parts = line.split(separator: ".", maxSplits: 1).map(String.init)
            sections[parts[0], default: []].append(parts[1])
        }
        let yaml = sections.map { "\($0):\n" + $1.map { "  \($0)\n" }.joined() }.joined()
        _ = try folder.write("countersign.yaml", Array(yaml.utf8))
        let result = try await Tool.run(["config", "check"], in: folder.url)
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains(fault), "\(result.errors)")
    }
}
