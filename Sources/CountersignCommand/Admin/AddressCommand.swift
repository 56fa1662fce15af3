import ArgumentParser
import Encodings
import NIOHTTP1

/// The command `countersign admin address`: actions of operators on any user's addresses.
struct AddressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "address", abstract: "Any user's mail addresses and telephone numbers: list, remove.",
        discussion: "Acts with an operator's token on a server that runs.", subcommands: [List.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the addresses that a user has proved, and what clients say.")

        @OptionGroup var user: AnyUser
        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = user.path
            let listed = try await remote.withRemote { try await $0.call(.GET, "\(path)/addresses") }
            let lines = (listed["addresses"]?.array ?? []).map { address in
                let name = address["address"]?.field ?? ""
                if let client = address["client"] {
                    let proof = address["proved_at"].map { ", proved there \($0.field ?? "")" } ?? ""
                    return "\(name)  said by \(client.field ?? "")\(proof)"
                }
                return "\(name)  proved \(address["verified_at"]?.field ?? "")"
            }
            output.print(listed, lines.isEmpty ? "There is none." : lines.joined(separator: "\n"))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an address of a user, with the sessions and tokens that codes to it gave.",
            discussion: """
                What clients say of it for the user goes, too, and what waits to count of the user. It may be the last way \
                to sign in: have the user show by other means who they are.
                """)

        @OptionGroup var user: AnyUser

        @Argument(help: "The address.")
        var address: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "\(user.path)/addresses/\(Remote.escaped(address))"
            try await remote.withRemote { _ = try await $0.call(.DELETE, path) }
            output.print(["removed": .string(address)], "Removed \(address).")
        }
    }
}
