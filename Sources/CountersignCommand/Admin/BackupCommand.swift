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
            gets its name. The master key is not in it: keep that apart, both are needed.

            From SQLite the copy is a database. To restore, put it into a new folder as countersign.sqlite, the key as \
            master.key, and start.

            From PostgreSQL it is written by pg_dump, whose password comes as the server's does. pg_restore reads it back, \
            and each table must have as many rows as at that moment. To restore, make an empty database, give the copy to \
            pg_restore --no-owner --exit-on-error, the key to a new folder, and look with `countersign admin doctor`.
            """)

    @Option(help: "Where to put the copy; the file must not be there yet.")
    var out: String

    @Flag(
        help: """
            From PostgreSQL: restore the copy as well, into a database that is made on the same server and dropped again. \
            That takes the room of a second one, and a role that may make databases.
            """)
    var tryRestore = false

    @OptionGroup var options: ServerOptions

    @OptionGroup var output: OutputOptions

    mutating func run() async throws {
        let settings = ServerSettings(try options.configuration())
        let (out, tryRestore) = (out, tryRestore)
        let content = try await ProgressLine.during("Copying the database, and reading the copy") {
            try Administration.backup(settings, to: out, triesRestore: tryRestore)
        }
        let rows = content.rows.sorted { $0.key < $1.key }
        let keys = content.masterKeys.map { "\($0)" }
        var counts = JSONObject()
        for (table, count) in rows { counts[table] = .integer(Int64(count)) }
        output.print(
            [
                "file": .string(out), "size": .integer(Int64(content.size)), "schema": .integer(Int64(content.schema)),
                "master_keys": .array(keys.map { .string($0) }), "rows": .object(counts),
                "restored": .bool(tryRestore),
            ],
            """
            \(out) is whole: \(rows.map { "\($0.value) \($0.key)" }.joined(separator: ", ")).
            It opens by the master key \(keys.joined(separator: " or ")), which is not in it: keep that apart.
            """ + (tryRestore ? "\nIt was restored for a try, with the same rows in every table." : ""))
    }
}
