import ArgumentParser
import Encodings
import NIOHTTP1

/// The command `countersign admin user-code`: an action of operators on any user's request code.
struct UserCodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user-code", abstract: "Any user's request code: remove.",
        discussion: "Acts with an operator's token on a server that runs.", subcommands: [Remove.self])

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user's request code, and forget the wrong ones that were brought.",
            discussion: """
                From then on servers of clients that bring no codes have the user asked again. The user is told, and sets \
                another code on the account page: until then, clients that bring codes have them asked no more.
                """)

        @OptionGroup var user: AnyUser
        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "\(user.path)/user-code"
            try await remote.withRemote { _ = try await $0.call(.DELETE, path) }
            output.print(["removed": .string(user.user)], "\(user.user) has no request code.")
        }
    }
}
