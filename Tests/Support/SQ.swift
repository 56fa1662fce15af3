import Foundation

/// The installed sq; it keeps no state, all keys and certificates are files.
package final class SQ: Sendable {
    /// sq is not installed.
    package struct NotInstalled: Error {}
    /// These tests do not know the options of this sq; between 0.27 and 1.0 they changed with every version.
    package struct UnknownVersion: Error {
        /// The output of `sq version`.
        package let text: String
    }

    /// The options of an sq.
    package enum Dialect: Sendable {
        /// The options of 0.25 to 0.27, as in Debian 12.
        case early
        /// The options since 1.0, which promises to keep them.
        case stable

        init?(version: String) {
            let numbers = version.split(separator: ".").compactMap { Int($0) }
            guard numbers.count >= 2 else { return nil }
            switch (numbers[0], numbers[1]) {
            case (0, 25...27): self = .early
            case (1..., _): self = .stable
            default: return nil
            }
        }
    }

    private let program: String
    private let home: TemporaryFolder
    /// The options of this sq.
    package let dialect: Dialect
    /// The folder in which tests write files.
    package let folder: TemporaryFolder

    package static var isInstalled: Bool { Program.path(of: "sq") != nil }

    /// Finds the installed sq and its version.
    package init() throws {
        guard let program = Program.path(of: "sq") else { throw NotInstalled() }
        self.program = program
        home = try TemporaryFolder()
        folder = try TemporaryFolder()
        let answers = try [["--version"], ["version"]].map { try Program.run(program, $0) }
        let text = answers.map { $0.output + $0.errors }.joined()
        let version = text.firstMatch(of: /sq ([0-9.]+)/)?.output.1 ?? ""
        guard let dialect = Dialect(version: String(version)) else { throw UnknownVersion(text: text) }
        self.dialect = dialect
    }

    private var environment: [String: String] { ["SEQUOIA_HOME": home.url.path, "LC_ALL": "C"] }

    /// Runs sq without prompts.
    @discardableResult
    package func run(_ arguments: [String]) throws -> ProgramResult {
        let common = dialect == .early ? ["--force"] : ["--batch", "--overwrite"]
        return try Program.run(program, common + arguments, environment: environment)
    }

    /// Runs sq with a passphrase, for which it prompts once or twice.
    package func run(_ arguments: [String], passphrase: String) throws -> ProgramResult {
        guard dialect == .early else {
            return try run(["--password-file", try folder.write("passphrase", passphrase.utf8)] + arguments)
        }
        // It reads the passphrase only from a terminal, so it gets one.
        let command = ([program, "--force"] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try Program.run(
            "/usr/bin/env", ["script", "--quiet", "--return", "--command", command, folder.path("typescript")],
            environment: environment, input: "\(passphrase)\n\(passphrase)\n")
    }
}
