import ArgumentParser
import Encodings
import NIOHTTP1

/// The command `countersign admin locks`.
struct LocksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locks", abstract: "Clients that may not ask a user, who has reported one of their questions.",
        discussion: "Acts with an operator's token on a server that runs.", subcommands: [List.self, End.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the locks, by the question that was reported.")

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let locks = try await remote.withRemote { try await $0.all("locks", of: "/v1/admin/locks") }
            output.print(
                ["locks": .array(locks)],
                locks.isEmpty ? "Nothing is locked." : locks.map(Self.describe).joined(separator: "\n"))
        }

        private static func describe(_ lock: JSONValue) -> String {
            ["challenge", "client", "user", "since"].map { lock[$0]?.field ?? "" }.joined(separator: "  ")
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a lock: the client may ask the user again.",
            discussion: "Find out first who started the question that the user reported: a password may be stolen.")

        @Argument(help: "The challenge that was reported.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/admin/locks/\(Remote.escaped(id))"
            try await remote.withRemote { _ = try await $0.call(.DELETE, path) }
            output.print(["challenge": .string(id)], "The lock of \(id) has ended.")
        }
    }
}
