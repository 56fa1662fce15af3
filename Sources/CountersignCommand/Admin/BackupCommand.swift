import ArgumentParser
import CountersignServer
import CountersignStorage
import Encodings
import Foundation

/// The command `countersign admin backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the database while the server runs, and check the copy.",
        discussion: """
            The copy is the database as it stands at one moment; nobody waits for it. It is read back to its end before it \
            gets its name. The master key is not in it: keep that apart, both are needed. To restore, put the copy into a \
            new folder as countersign.sqlite, the key as master.key, and start.
            """)

    @Option(help: "Where to put the copy; the file must not be there yet.")
    var out: String

    @OptionGroup var options: ServerOptions

    @OptionGroup var output: OutputOptions

    mutating func run() async throws {
        let content = try Upkeep.backup(ServerSettings(try options.configuration()), to: out)
        let rows = content.rows.sorted { $0.key < $1.key }
        let keys = content.masterKeys.map { "\($0)" }
        var counts = JSONObject()
        for (table, count) in rows { counts[table] = .integer(Int64(count)) }
        output.print(
            [
                "file": .string(out), "size": .integer(Int64(content.size)), "schema": .integer(Int64(content.schema)),
                "master_keys": .array(keys.map { .string($0) }), "rows": .object(counts),
            ],
            """
            \(out) is whole: \(rows.map { "\($0.value) \($0.key)" }.joined(separator: ", ")).
            It opens by the master key \(keys.joined(separator: " or ")), which is not in it: keep that apart.
            """)
    }
}
