import Foundation

/// A real sq; it keeps nothing, all keys and certificates are files.
package final class SQ: Sendable {
    /// sq is not installed.
    package struct NotInstalled: Error {}
    /// An sq whose options these tests do not know: between 0.27 and 1.0 they changed with every version.
    package struct UnknownVersion: Error {
        /// What it says of itself.
        package let text: String
    }

    /// How sq wants to be told things.
    package enum Dialect: Sendable {
        /// 0.25 to 0.27, as in Debian 12.
        case early
        /// From 1.0 on, where options are promised to stay.
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
    /// How this one wants to be told things.
    package let dialect: Dialect
    /// Where tests put files.
    package let folder: TemporaryFolder

    /// Whether it is there.
    package static var isInstalled: Bool { Program.path(of: "sq") != nil }

    /// Finds out which one is there.
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

    /// Runs sq without a person to ask.
    @discardableResult
    package func run(_ arguments: [String]) throws -> ProgramResult {
        let common = dialect == .early ? ["--force"] : ["--batch", "--overwrite"]
        return try Program.run(program, common + arguments, environment: environment)
    }

    /// Runs sq where it asks for a passphrase, once or twice.
    package func run(_ arguments: [String], passphrase: String) throws -> ProgramResult {
        guard dialect == .early else {
            return try run(["--password-file", try folder.write("passphrase", passphrase.utf8)] + arguments)
        }
        // It reads from its terminal alone, so it gets one.
        let command = ([program, "--force"] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try Program.run(
            "/usr/bin/env", ["script", "--quiet", "--return", "--command", command, folder.path("typescript")],
            environment: environment, input: "\(passphrase)\n\(passphrase)\n")
    }
}
