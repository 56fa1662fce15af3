import ArgumentParser
import Encodings
import Foundation
import NIOHTTP1
import RelyingPartyAPI

/// The command `countersign client openid look`.
extension ClientCommand.OpenID {
    struct Look: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "look", abstract: "What a client replaces on its pages: a logo and a colour.",
            subcommands: [Set.self, Show.self, Remove.self])
    }
}

extension ClientCommand.OpenID.Look {
    private static func path(_ id: String) -> String { "\(ClientCommand.OpenID.path(id))/look" }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give the pages of a client a logo, a colour or both; what is not named is the pages' own.")

        @Argument(help: "The client's id.")
        var id: String

        @Option(help: "A file with a still PNG, of at most 64 KiB and 1024 by 1024 pixels.")
        var logo: String?

        @Option(help: "The colour of links and buttons, such as #8a1538; with a contrast of 4.5 to #f1f4f5.")
        var accent: String?

        @Option(help: "The same in the dark scheme, with a contrast of 4.5 to #171e22. (default: the text's colour)")
        var accentDark: String?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard logo != nil || accent != nil else { throw ValidationError("Name --logo, --accent or both.") }
            guard accent != nil || accentDark == nil else { throw ValidationError("--accent-dark needs --accent.") }
        }

        mutating func run() async throws {
            let bytes = try logo.map { file in
                guard let bytes = FileManager.default.contents(atPath: file) else {
                    throw CommandError("\(file) cannot be read.")
                }
                return Array(bytes)
            }
            let request = LookRequest(
                logo: bytes, accent: accent.map { LookColours(light: $0, dark: accentDark) })
            let set = try await remote.withRemote { [id] in
                try await $0.call(.PUT, ClientCommand.OpenID.Look.path(id), request.json)
            }
            output.print(set, ClientCommand.OpenID.Look.text(of: set))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show what a client replaces on its pages.")

        @Argument(help: "The client's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let shown = try await remote.withRemote { [id] in
                try await $0.call(.GET, ClientCommand.OpenID.Look.path(id))
            }
            output.print(shown, ClientCommand.OpenID.Look.text(of: shown))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Give the pages of a client their own look again.")

        @Argument(help: "The client's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions

        mutating func run() async throws {
            _ = try await remote.withRemote { [id] in
                try await $0.call(.DELETE, ClientCommand.OpenID.Look.path(id))
            }
            say("The pages of client \(id) have their own look.")
        }
    }

    private static func text(of look: JSONValue) -> String {
        func number(_ value: JSONValue?) -> String { value?.integer.map { "\($0)" } ?? "" }
        let logo = look["logo"].map { logo in
            let size = "\(number(logo["width"])) by \(number(logo["height"])) pixels"
            return "logo of \(size), at \(logo["path"]?.field ?? "")"
        }
        let accent = look["accent"].map { accent in
            "colour \(accent["light"]?.field ?? "")" + (accent["dark"]?.field.map { ", in the dark \($0)" } ?? "")
        }
        let parts = [logo, accent].compactMap(\.self)
        return (["\(look["client"]?.field ?? ""):"] + (parts.isEmpty ? ["the pages' own look"] : parts))
            .joined(separator: "\n")
    }
}
