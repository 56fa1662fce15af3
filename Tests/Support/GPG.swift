import Foundation

/// A real gpg with a key ring of its own in an empty folder.
package final class GPG: Sendable {
    /// gpg is not installed.
    package struct NotInstalled: Error {}

    private let program: String
    /// The folder of its key ring, where tests put files too.
    package let folder: TemporaryFolder

    /// Whether it is there.
    package static var isInstalled: Bool { Program.path(of: "gpg") != nil }

    /// Starts with an empty key ring.
    package init() throws {
        guard let program = Program.path(of: "gpg") else { throw NotInstalled() }
        self.program = program
        folder = try TemporaryFolder()
    }

    deinit {
        // An agent left behind would hold the folder's socket and disturb the next test.
        _ = try? Program.run("/usr/bin/env", ["gpgconf", "--kill", "all"], environment: environment)
    }

    private var environment: [String: String] { ["GNUPGHOME": folder.url.path, "LC_ALL": "C"] }

    /// Runs gpg without a person to ask.
    @discardableResult
    package func run(_ arguments: String..., input: String = "") throws -> ProgramResult {
        try run(arguments: arguments, input: input)
    }

    /// Runs gpg without a person to ask.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - passphrase: what it would ask for.
    ///   - input: what it reads on standard input.
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
