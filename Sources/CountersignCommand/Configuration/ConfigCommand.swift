import ArgumentParser
import CountersignServer
import Encodings

/// The command `countersign config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the settings of a server, or list all there are.",
        subcommands: [Check.self, Reference.self])

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Name every fault in the settings at once, or show what holds.",
            discussion: "It takes the flags of `serve`, reads what `serve` would read, and starts nothing.")

        @OptionGroup var options: ServeOptions

        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let configuration: Configuration
            do throws(ConfigurationFaults) {
                configuration = try options.configuration()
            } catch {
                if output.json {
                    output.print(
                        ["version": .string(ServerVersion.text), "faults": .array(error.faults.map(\.json))], "")
                    throw CommandError("The settings have \(error.faults.count) faults.")
                }
                throw CommandError(error.description)
            }
            let complaints = ServerSettings(configuration).unusableFiles
            guard complaints.isEmpty else { throw CommandError(complaints.joined(separator: "\n")) }
            let shown = configuration.shown
            let object: JSONValue = [
                "version": .string(ServerVersion.text), "faults": [],
                "file": configuration.file.map(JSONValue.string) ?? .null,
                "settings": .array(
                    shown.map { ["key": .string($0.key), "value": .string($0.value), "place": .string($0.place)] }),
            ]
            let lines = shown.map { "\($0.key): \($0.value)  (\($0.place))" }
            output.print(object, (lines + ["The settings are right."]).joined(separator: "\n"))
        }
    }

    struct Reference: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the page that lists every setting.")

        mutating func run() async throws {
            say(ConfigurationPage.text, terminator: "")
        }
    }
}
