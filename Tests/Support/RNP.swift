import Foundation

/// The installed rnp, with its own key rings in an empty folder; unlike gpg, it starts no agent.
package final class RNP: Sendable {
    /// rnp, or the rnpkeys that belongs to it, is not installed.
    package struct NotInstalled: Error {}

    private let program: String
    private let keysProgram: String
    private let home: TemporaryFolder
    /// The folder in which tests write files.
    package let folder: TemporaryFolder

    /// Whether both programs are installed.
    package static var isInstalled: Bool { Program.path(of: "rnp") != nil && Program.path(of: "rnpkeys") != nil }

    /// Starts with empty key rings.
    package init() throws {
        guard let program = Program.path(of: "rnp"), let keysProgram = Program.path(of: "rnpkeys") else {
            throw NotInstalled()
        }
        self.program = program
        self.keysProgram = keysProgram
        home = try TemporaryFolder()
        folder = try TemporaryFolder()
    }

    /// Runs `rnp`, which works on messages.
    @discardableResult
    package func run(_ arguments: [String], passphrase: String = "", input: String = "") throws -> ProgramResult {
        try run(program, arguments, passphrase, input)
    }

    /// Runs `rnpkeys`, which works on keys.
    @discardableResult
    package func runKeys(_ arguments: [String], passphrase: String = "", input: String = "") throws -> ProgramResult {
        try run(keysProgram, arguments, passphrase, input)
    }

    private func run(
        _ program: String, _ arguments: [String], _ passphrase: String, _ input: String
    ) throws -> ProgramResult {
        // Without a passphrase on the command line, it would prompt for one.
        let common = ["--homedir", home.url.path, "--notty", "--overwrite", "--password=\(passphrase)"]
        return try Program.run(program, common + arguments, environment: ["LC_ALL": "C", "TZ": "UTC"], input: input)
    }
}
