import ArgumentParser
import Encodings
import Foundation
import TestSupport
import Testing

@testable import CountersignCommand

@Suite(
    "Settings come from flags, environment and file, and every fault is told at once",
    .timeLimit(.minutes(15))
)
struct ConfigTests {
    /// Runs `config check` in a folder with a file.
    private func check(
        _ yaml: String?, _ flags: [String] = [], environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        let folder = try TemporaryFolder()
        if let yaml { _ = try folder.write("countersign.yaml", Array(yaml.utf8)) }
        return try await RunningProgram.run(
            try Tool.path, ["config", "check"] + flags, environment: environment, in: folder.url)
    }

    /// What holds, by key: the value and where it is from.
    private func settings(
        _ yaml: String?, _ flags: [String] = [], environment: [String: String] = [:]
    ) async throws -> [String: [String]] {
        let result = try await check(yaml, flags + ["--json"], environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        var settings: [String: [String]] = [:]
        for setting in try result.json()["settings"]?.array ?? [] {
            settings[setting["key"]?.string ?? ""] = [setting["value"]?.string ?? "", setting["place"]?.string ?? ""]
        }
        return settings
    }

    private func expectFaults(
        _ lines: [String], in yaml: String?, _ flags: [String] = [], environment: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await check(yaml, flags, environment: environment)
        #expect(result.status == 1, sourceLocation: sourceLocation)
        #expect(result.output.isEmpty, sourceLocation: sourceLocation)
        #expect(result.errors.split(separator: "\n").map(String.init) == lines, sourceLocation: sourceLocation)
    }

    @Test("Without a file, a variable or a flag everything is as it is by default")
    func defaults() async throws {
        #expect(try await settings(nil) == [:])
        #expect(try await settings("") == [:])
        #expect(try await settings("# nothing but a comment\n") == [:])
    }

    @Test("A flag goes over the environment, the environment over the file")
    func layers() async throws {
        let yaml = "port: 1001\nhost: 127.0.0.2\nissuer: https://login.example.com\n"
        let environment = ["COUNTERSIGN_PORT": "1002", "COUNTERSIGN_HOST": "127.0.0.3"]
        #expect(
            try await settings(yaml, ["--port", "1003"], environment: environment) == [
                "port": ["1003", "--port"], "host": ["127.0.0.3", "COUNTERSIGN_HOST"],
                "issuer": ["https://login.example.com", "countersign.yaml:3"],
            ])
    }

    @Test("Every setting is read from each place it may stand in", arguments: ConfigExample.all)
    func everySetting(_ example: ConfigExample) throws {
        let description = try #require(Settings.all.map(\.description).first { $0.key == example.key })
        let folder = try TemporaryFolder()
        func expect(_ place: String, _ flags: [String], _ environment: [String: String], yaml: String = "") throws {
            let file = try folder.write("settings.yaml", Array(yaml.utf8))
            let options = try ServeCommand.parse(flags + ["--config", file]).options
            let shown = try options.configuration(environment: environment.merging(example.needs) { $1 }).shown
            let setting = try #require(shown.first { $0.key == example.key })
            #expect(setting.value == (description.isSensitive ? "•••" : example.shown))
            #expect(setting.place.replacing(file, with: "FILE") == place)
        }
        try expect(description.variable, [], [description.variable: example.text])
        let parts = example.key.split(separator: ".")
        let yaml = (parts.count == 2 ? "\(parts[0]):\n  \(parts[1])" : example.key) + ": \(example.yaml)\n"
        guard let flag = description.flag else {
            let error = try #require(throws: ConfigurationFaults.self) { try expect("", [], [:], yaml: yaml) }
            #expect(error.description.contains("is a secret, and this file is not"))
            #expect(!error.description.contains(example.text))
            return
        }
        switch example.text {
        case "true": try expect(flag, [flag], [:])
        case "false": try expect(flag, ["--no-\(flag.dropFirst(2))"], [:])
        default: try expect(flag, example.text.split(separator: ",").flatMap { [flag, String($0)] }, [:])
        }
        try expect("FILE:\(parts.count)", [], [:], yaml: yaml)
    }

    @Test("Every setting refuses what it cannot be, and a secret is not shown", arguments: ConfigExample.all)
    func everyRefusal(_ example: ConfigExample) throws {
        let description = try #require(Settings.all.map(\.description).first { $0.key == example.key })
        for wrong in ["", example.wrong].compactMap({ $0 }) where !(wrong.isEmpty && description.isList) {
            let environment = example.needs.merging([description.variable: wrong]) { $1 }
            let error = try #require(throws: ConfigurationFaults.self) {
                _ = try ServeCommand.parse([]).options.configuration(environment: environment)
            }
            #expect(error.faults.map(\.key) == [example.key], "\(error)")
            #expect(error.faults.first?.place == description.variable)
            if description.isSensitive { #expect(!error.description.contains(wrong) || wrong.isEmpty) }
        }
    }

    @Test("There is an example of every setting")
    func examples() {
        #expect(ConfigExample.all.map(\.key).sorted() == Settings.all.map(\.description.key).sorted())
    }

    @Test("Every fault is named at once, with its place, what is wrong and what to do")
    func everyFault() async throws {
        let yaml = """
            prot: 1
            port: 70000
            tls:
              certificate: cert.pem
            log:
              level: loud
              colour: red
            """
        try await expectFaults(
            [
                "countersign.yaml:1: There is no setting prot. Did you mean port?",
                "countersign.yaml:7: There is no setting log.colour. Remove it; docs/reference/configuration.md lists all.",
                "countersign.yaml:2: port must be a number from 0 to 65535, not \"70000\". Set it right.",
                "countersign.yaml:6: log.level must be one of trace, debug, info, notice, warning, error, critical, "
                    + "not \"loud\". Set it right.",
                "environment: There is no variable COUNTERSIGN_ISUER. Did you mean COUNTERSIGN_ISSUER?",
                "COUNTERSIGN_PROXIES: proxies must be addresses or networks such as 10.0.0.0/8 or fd00::/8, "
                    + "not \"10.0.0.0/8, everybody\". Set it right.",
                "--host: host must be an address of this machine, such as 127.0.0.1 or 0.0.0.0, not \"no host\". Set it right.",
                "countersign.yaml:4: tls.certificate is set, and tls.key is not. Set both, or neither.",
            ], in: yaml, ["--host", "no host"],
            environment: ["COUNTERSIGN_ISUER": "x", "COUNTERSIGN_PROXIES": "10.0.0.0/8, everybody"])
    }

    @Test(
        "Certificates of clients need somebody to bring them",
        arguments: [("proxy", "proxies"), ("proxy-unverified", "proxies"), ("tls", "tls.certificate")])
    func certificatesFromNowhere(_ source: String, _ needed: String) throws {
        let error = try #require(throws: ConfigurationFaults.self) {
            _ = try ServeCommand.parse(["--client-certificates-from", source]).options.configuration(environment: [:])
        }
        #expect(error.faults.map(\.key) == [needed], "\(error)")
    }

    @Test("With --json the faults are an object")
    func faultsAsJSON() async throws {
        let result = try await check("prot: 1\n", ["--json"])
        #expect(result.status == 1)
        #expect(
            try result.json() == [
                "version": "0.1.0",
                "faults": [
                    [
                        "place": "countersign.yaml:1", "key": "prot", "what": "There is no setting prot.",
                        "cure": "Did you mean port?",
                    ]
                ],
            ])
    }

    @Test(
        "What is no settings file is refused with the line",
        arguments: [
            ("- port\n", "countersign.yaml:1: The file does not hold settings. Write lines such as `port: 8080`."),
            ("8080\n", "countersign.yaml:1: The file does not hold settings. Write lines such as `port: 8080`."),
            ("port: 1\nport: 2\n", "countersign.yaml:1: port stands there twice. Keep one."),
            ("port:\n", "countersign.yaml:1: port has no value. Give it one, or leave the line out."),
            ("port: ~\n", "countersign.yaml:1: port has no value. Give it one, or leave the line out."),
            ("port: [1]\n", "countersign.yaml:1: port must be a number from 0 to 65535. Write it behind the colon."),
            ("port: {a: 1}\n", "countersign.yaml:1: port must be a number from 0 to 65535. Write it behind the colon."),
            ("port: 0x50\n", "countersign.yaml:1: port must be a number from 0 to 65535, not \"0x50\". Set it right."),
            ("port: 080\n", "countersign.yaml:1: port must be a number from 0 to 65535, not \"080\". Set it right."),
            ("migrate: yes\n", "countersign.yaml:1: migrate must be true or false, not \"yes\". Set it right."),
            (
                "\n\ntls: cert.pem\n",
                "countersign.yaml:3: tls is no setting but holds some. Indent them below it: tls.certificate, tls.key."
            ),
            ("tls.key: a\n", nil), ("port: 1\n---\nport: 2\n", nil), ("port: 1\n\thost: a\n", nil),
            ("port: \"1\n", nil),
        ])
    func noSettingsFile(_ yaml: String, _ complaint: String?) async throws {
        let result = try await check(yaml)
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("countersign.yaml:"))
        if let complaint { #expect(result.errors == complaint + "\n") }
    }

    @Test("A file that is named must be there")
    func missingFile() async throws {
        for (flags, environment) in [(["--config", "no.yaml"], [:]), ([], ["COUNTERSIGN_CONFIG": "no.yaml"])] {
            try await expectFaults(
                ["no.yaml:1: The file cannot be read. It must be there, and be UTF-8 that the server may read."],
                in: nil, flags, environment: environment)
        }
    }

    @Test("A server does not start on settings that are wrong, and leaves nothing behind")
    func refusedStart() async throws {
        let folder = try TemporaryFolder()
        let result = try await Tool.run(["serve"], environment: ["COUNTERSIGN_PROT": "1"], in: folder.url)
        #expect(result.status == 2)
        #expect(result.errors == "environment: There is no variable COUNTERSIGN_PROT. Did you mean COUNTERSIGN_PORT?\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test("Of two places for the master key neither is chosen")
    func twoMasterKeys() async throws {
        try await expectFaults(
            [
                "--master-key-command: master_key_file and master_key_command are both set. Keep one."
            ], in: "master_key_file: key\n", ["--master-key-command", "cat key"])
    }

    @Test("`serve` has a flag for every setting that is no secret, with its meaning")
    func help() async throws {
        let help = try await Tool.run(["serve", "--help"]).output
        let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for setting in Settings.all.map(\.description) {
            guard let flag = setting.flag else { continue }
            #expect(words.contains("\(flag)"), "\(setting.key)")
            #expect(words.contains(setting.summary), "\(setting.key)")
            #expect(words.contains("$\(setting.variable)"), "\(setting.key)")
        }
    }

    @Test("docs/reference/configuration.md is what `config reference` prints")
    func page() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/reference/configuration.md"), encoding: .utf8)
        #expect(try await Tool.run(["config", "reference"]).output == page)
    }

    @Test("The near name is the one with few letters to change")
    func nearNames() {
        #expect(NearName.distance("", "abc") == 3)
        #expect(NearName.distance("abc", "abc") == 0)
        #expect(NearName.distance("prot", "port") == 1, "two neighbours swapped")
        #expect(NearName.distance("port", "ports") == 1)
        #expect(NearName.distance("kitten", "sitting") == 3)
        #expect(NearName.of("Issuer", among: ["issuer", "port"]) == "issuer")
        #expect(NearName.of("database_password", among: ["issuer", "port"]) == nil)
    }
}
