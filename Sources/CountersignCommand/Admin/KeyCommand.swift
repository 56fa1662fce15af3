import ArgumentParser
import CountersignServer
import Encodings

/// The command `countersign admin key`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Replace the master key.", subcommands: [Rotate.self, Finish.self])

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a new master key take the place of the one in use; the server may run.",
            discussion: """
                A key in the data folder is replaced at once; the earlier one is kept beside it, for backups made before. \
                Servers on PostgreSQL each have the key: give the new one to all of them, then run `countersign admin key \
                finish`; until then both open the database. A key from elsewhere is yours to replace: name the new one, \
                give it to every server, then finish. In the end servers seal everything again under a new key.
                """)

        @Option(
            help: "The file with the new key, the base64 of 32 bytes, when the key in use is not in the data folder.")
        var newMasterKeyFile: String?

        @OptionGroup var options: ServerOptions

        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let settings = ServerSettings(try options.configuration())
            let rotation = try await ProgressLine.during("Replacing the master key") { [newMasterKeyFile] in
                try await Administration.rotateMasterKey(settings, to: newMasterKeyFile)
            }
            let object = JSONValue.members([
                "master_key": .string("\(rotation.next)"), "earlier": rotation.keptAs.map(JSONValue.string),
                "finished": .bool(rotation.isFinished),
            ])
            var lines: [String] = []
            if let kept = rotation.keptAs {
                lines = [
                    "The master key is now \(rotation.next). Back it up apart from the database.",
                    "The earlier one is kept as \(kept), for backups made before; delete it when there are none.",
                ]
            } else {
                lines = ["The database opens by the new master key \(rotation.next) as well as by the one in use."]
            }
            if !rotation.isFinished {
                lines += [
                    "Give the new key to every server; where it is in the environment, restart the server with it.",
                    "Then run `countersign admin key finish`: from then on the earlier one opens nothing.",
                ]
            }
            output.print(object, lines.joined(separator: "\n"))
        }
    }

    struct Finish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let the earlier master keys open the database no more.")

        @OptionGroup var options: ServerOptions

        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let settings = ServerSettings(try options.configuration())
            let key = try await ProgressLine.during("Replacing the master key") {
                try await Administration.finishRotation(settings)
            }
            output.print(["master_key": .string("\(key)")], "The database opens by the master key \(key) alone.")
        }
    }
}
