import ArgumentParser
import Encodings
import NIOHTTP1
import RelyingPartyAPI

/// The command `countersign admin issuer-key`.
struct IssuerKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issuer-key", abstract: "The issuer's own keys: those that sign and open, and their rotation.",
        discussion: "Acts with an operator's token on a server that runs.", subcommands: [List.self, Rotate.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys, by their use, oldest first.")

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let reply = try await remote.withRemote { try await $0.call(.GET, "/v1/admin/issuer-keys") }
            let keys = reply["keys"]?.array ?? []
            output.print(reply, keys.map(IssuerKeyCommand.describe).joined(separator: "\n"))
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a new key take the place of one; servers run on, and nothing is refused.",
            discussion: """
                A key that signs is published for 24 hours before it does. What the earlier key did is honoured for 24 \
                hours after. Devices learn of new keys by themselves.
                """)

        @Argument(
            help:
                "The key's use: openpgp-signing, openpgp-encryption, push, token-es256, token-rs256 or cotter-ed25519."
        )
        var use: String

        @Flag(help: "Use the new key in 90 seconds, when every server holds it.")
        var now = false

        @Flag(
            help: "Somebody else may have the key: use the new one in 90 seconds, and from then on the earlier no more."
        )
        var compromised = false

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/admin/issuer-keys/\(Remote.escaped(use))/rotate"
            let body = RotationRequest(isAtOnce: now, isCompromised: compromised).json
            let key = try await remote.withRemote { try await $0.call(.POST, path, body) }
            output.print(key, IssuerKeyCommand.describe(key))
        }
    }

    private static func describe(_ key: JSONValue) -> String {
        let columns = ["id", "use", "state", "name"].map { key[$0]?.field ?? "" }
        let due = key["changes_at"]?.field.map { time in
            key["state"]?.string == "next" ? "is used from \(time)" : "is honoured until \(time)"
        }
        let mark = key["compromised"] == true ? "compromised" : nil
        return (columns + [due, mark].compactMap { $0 }).joined(separator: "  ")
    }
}
