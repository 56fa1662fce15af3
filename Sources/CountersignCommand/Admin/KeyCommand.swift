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
                A key in the data folder is replaced at once; the earlier one is kept beside it, for backups made before. A \
                key from elsewhere is yours to replace: name the new one, give it to every server, then run `countersign \
                admin key finish`. Until then both open the database.
                """)

        @Option(
            help: "The file with the new key, the base64 of 32 bytes, when the key in use is not in the data folder.")
        var newMasterKeyFile: String?

        @OptionGroup var options: ServerOptions

        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let rotation = try await Upkeep.rotateMasterKey(
                ServerSettings(try options.configuration()), to: newMasterKeyFile)
            let object = JSONValue.members([
                "master_key": .string("\(rotation.next)"), "earlier": rotation.keptAs.map(JSONValue.string),
                "finished": .bool(rotation.keptAs != nil),
            ])
            let text =
                if let kept = rotation.keptAs {
                    """
                    The master key is now \(rotation.next). Back it up apart from the database.
                    The earlier one is kept as \(kept), for backups made before; delete it when there are none.
                    """
                } else {
                    """
                    The database opens by the new master key \(rotation.next) as well as by the one in use.
                    Give the new key to every server and restart it; then run `countersign admin key finish`.
                    """
                }
            output.print(object, text)
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
                try await Upkeep.finishRotation(settings)
            }
            output.print(["master_key": .string("\(key)")], "The database opens by the master key \(key) alone.")
        }
    }
}
