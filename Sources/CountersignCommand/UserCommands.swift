import ArgumentParser
import CountersignWire
import Encodings
import NIOHTTP1

/// Users as a client knows them or, with an operator's token, as all clients together know them.
extension UserCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List your users; with an operator's token, everybody with the clients that know them.")

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let users = try await remote.withRemote { try await $0.all("users", of: $0.users) }
            output.print(["users": .array(users)], users.map(UserCommand.describe).joined(separator: "\n"))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a user.")

        @Argument(help: "The user: an id, or your own name for them.")
        var user: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let name = Remote.escaped(Remote.user(user))
            let shown = try await remote.withRemote { try await $0.call(.GET, "\($0.users)/\(name)") }
            output.print(shown, UserCommand.describe(shown))
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a user and erase what is personal of them.",
            discussion: """
                A client lets the user go: who is known to other clients, too, stays theirs. With an operator's token the \
                user goes altogether. Receipts stay as long as the server keeps them.
                """)

        @Argument(help: "The user: an id, or your own name for them.")
        var user: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let name = Remote.escaped(Remote.user(user))
            _ = try await remote.withRemote { try await $0.call(.DELETE, "\($0.users)/\(name)") }
            output.print(["deleted": .string(user)], "Deleted \(user).")
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print all that is kept of a user, an object a line; the last one is `end`.")

        @Argument(help: "The user: an id, or your own name for them.")
        var user: String

        @OptionGroup var remote: RemoteOptions

        mutating func run() async throws {
            let name = Remote.escaped(Remote.user(user))
            try await remote.withRemote { remote in
                var last = ""
                try await remote.lines(.GET, "\(remote.users)/\(name)/export") { line in
                    last = line
                    // Characters are escaped as JSON escapes, so the line stays JSON.
                    say((try? JSONValue(parsing: Array(line.utf8))).map(ShownText.json) ?? ShownText.line(line))
                }
                guard last.hasPrefix("{\"end\":") else {
                    throw CommandError("The export broke off: something is missing. Try again.", .unreachable)
                }
            }
        }
    }

    private static func describe(_ user: JSONValue) -> String {
        let links = (user["links"]?.array ?? []).map { link in
            [link["client"]?.field, link["external_id"]?.field].compactMap { $0 }.joined(separator: "=")
        }
        let parts = [
            user["id"]?.field, user["external_id"]?.field, user["created_at"]?.field,
            user["enrollment_blocked"]?.bool == true ? "may enroll no device" : nil,
            user["deleted_at"]?.field.map { "deleted \($0)" },
        ]
        return (parts.compactMap { $0 } + links).joined(separator: "  ")
    }
}

extension Remote {
    /// The path of this caller's users: an operator sees all users, a client its own.
    fileprivate var users: String { isOperator ? "/v1/admin/users" : "/v1/users" }
}
