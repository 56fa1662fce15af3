import ArgumentParser
import CountersignWire
import Encodings
import NIOHTTP1

/// The command `countersign admin outbox`.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "What has not arrived: callbacks, pushes, mails and text messages.",
        discussion: "Acts with an operator's token on a server that runs.", subcommands: [List.self, Retry.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List what was given up, with the reason; or what waits.")

        @Flag(help: "What is to be sent, or sent again, instead of what was given up.")
        var waiting = false

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let state = waiting ? "waiting" : "dead"
            let messages = try await remote.withRemote {
                try await $0.all("messages", of: "/v1/admin/outbox", ["state=\(state)"])
            }
            output.print(
                ["messages": .array(messages)],
                messages.isEmpty ? "Nothing is \(state)." : messages.map(Self.describe).joined(separator: "\n"))
        }

        private static func describe(_ message: JSONValue) -> String {
            let attempts = message["attempts"]?.integer ?? 0
            return "\(message["id"]?.field ?? "")  \(message["kind"]?.field ?? "")  "
                + "tried \(attempts) \(attempts == 1 ? "time" : "times")  "
                + "\(message["last_error"]?.field ?? "not tried yet")"
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Have a message sent now.")

        @Argument(help: "The message's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/admin/outbox/\(Remote.escaped(id))/retry"
            try await remote.withRemote { _ = try await $0.call(.POST, path) }
            output.print(["message": .string(id)], "\(id) is sent now.")
        }
    }
}
