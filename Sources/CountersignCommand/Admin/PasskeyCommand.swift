import ArgumentParser
import Encodings
import NIOHTTP1

/// The command `countersign admin passkey`: actions of operators on any user's passkeys.
struct PasskeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passkey", abstract: "Any user's passkeys: list, remove.",
        discussion: "Acts with an operator's token on a server that runs.", subcommands: [List.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a user's passkeys, oldest first.")

        @OptionGroup var user: AnyUser
        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = user.path
            let listed = try await remote.withRemote { try await $0.call(.GET, "\(path)/passkeys") }
            let lines = (listed["passkeys"]?.array ?? []).map { passkey in
                ["id", "name", "created_at"].map { passkey[$0]?.field ?? "" }.joined(separator: "  ")
                    + (passkey["used_at"].map { "  used \($0.field ?? "")" } ?? "")
                    + (passkey["confirmed"] == true ? "" : "  first parties alone")
            }
            output.print(listed, lines.isEmpty ? "There is none." : lines.joined(separator: "\n"))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a passkey, with the sessions and tokens that it gave.",
            discussion: "A passkey that the user registers next by an address alone waits as long as a new device.")

        @OptionGroup var user: AnyUser

        @Argument(help: "The passkey's id.")
        var passkey: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "\(user.path)/passkeys/\(Remote.escaped(passkey))"
            try await remote.withRemote { _ = try await $0.call(.DELETE, path) }
            output.print(["removed": .string(passkey)], "Removed \(passkey).")
        }
    }
}

/// A user, whoever knows them, on whom an operator acts.
struct AnyUser: ParsableArguments {
    @Argument(help: "The user: an id, or the operator's own name for them.")
    var user: String

    /// The path of the user for operators.
    var path: String { "/v1/admin/users/\(Remote.escaped(Remote.user(user)))" }
}
