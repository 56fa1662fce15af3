import Foundation

/// The installed gpg, with its own key ring in an empty folder.
package final class GPG: Sendable {
    /// gpg is not installed.
    package struct NotInstalled: Error {}

    private let program: String
    /// The folder of its key ring, in which tests also write files.
    package let folder: TemporaryFolder

    package static var isInstalled: Bool { Program.path(of: "gpg") != nil }

    /// Starts with an empty key ring.
    package init() throws {
        guard let program = Program.path(of: "gpg") else { throw NotInstalled() }
        self.program = program
        folder = try TemporaryFolder()
    }

    deinit {
        // A remaining agent would hold the folder's socket and disturb the next test.
        _ = try? Program.run("/usr/bin/env", ["gpgconf", "--kill", "all"], environment: environment)
    }

    private var environment: [String: String] { ["GNUPGHOME": folder.url.path, "LC_ALL": "C"] }

    /// Runs gpg without prompts.
    @discardableResult
    package func run(_ arguments: String..., input: String = "") throws -> ProgramResult {
        try run(arguments: arguments, input: input)
    }

    /// Runs gpg without prompts.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - passphrase: the passphrase that it would ask for.
    ///   - input: its standard input.
    @discardableResult
    package func run(arguments: [String], passphrase: String = "", input: String = "") throws -> ProgramResult {
        try Program.run(
            program,
            [
                "--batch", "--no-tty", "--yes", "--trust-model", "always", "--pinentry-mode", "loopback",
                "--passphrase", passphrase,
            ]
                + arguments,
            environment: environment, input: input)
    }
}
