import CountersignCore
import Foundation

/// A copy of a PostgreSQL database, made while it is in use.
public enum PostgresBackup {
    private static let exportSnapshot = SQLStatement("SELECT pg_export_snapshot()")

    /// Copies a database as it stands at one moment; nobody who writes waits for it.
    ///
    /// `pg_dump` writes the copy in its own format. Then `pg_restore` reads every row of it back, and each table must have
    /// as many as it had in the database at that moment. The copy gets its name when that is so.
    ///
    /// - Parameters:
    ///   - address: the database.
    ///   - target: the copy, which must not be there yet.
    ///   - triesRestore: whether the copy is restored as well, into a database that is made for it on the same server, and
    ///     compared there.
    /// - Throws: ``BackupFailure``.
    public static func make(
        of address: PostgresAddress, at target: String, triesRestore: Bool = false
    ) throws -> BackupContent {
        do {
            let connection = try PostgresConnection(to: address, patience: .seconds(86_400))
            guard !connection.hasKeyPassword else {
                throw BackupFailure(
                    description:
                        "The address holds sslpassword, which pg_dump cannot be given unseen: name a key without.")
            }
            let dump = try PostgresProgram("pg_dump", for: connection)
            let restore = try PostgresProgram("pg_restore", for: connection)
            try connection.beginSnapshot()
            let rows = try PostgresRows(connection)
            guard rows.names["schema_version"] != nil else {
                throw BackupFailure(description: "There is no database of Countersign's at \(address).")
            }
            let snapshot = try connection.rows(exportSnapshot, []).first?.text(0) ?? ""
            return try BackupFile.make(target) { draft, descriptor in
                // The moment is there for others as long as the transaction that saw it.
                try withExtendedLifetime(connection) {
                    try dump.run(arguments(snapshot, rows), output: descriptor)
                }
                let content = try check(draft, by: restore, against: rows)
                if triesRestore { try PostgresTrial.run(draft, restore, rows, address, connection) }
                return content
            }
        } catch let failure as PostgresFailure {
            throw BackupFailure(description: "The database \(address) cannot be read: \(failure.message)")
        } catch let error as StoreError {
            throw BackupFailure(description: "The database \(address) cannot be read: \(error)")
        }
    }

    private static func arguments(_ snapshot: String, _ rows: PostgresRows) -> [String] {
        let schema = rows.names["schema_version"]?.split(separator: ".").first ?? ""
        return ["--format=custom", "--snapshot=\(snapshot)", "--no-password"]
            + PostgresRows.left.map { "--exclude-table-data=\(schema).\($0)" }
    }

    /// Reads a copy to its end, and compares it with what was copied.
    private static func check(
        _ file: String, by restore: PostgresProgram, against rows: PostgresRows
    ) throws(BackupFailure) -> BackupContent {
        let archive = try PostgresArchive.read(file, by: restore, names: rows.names)
        var counts: [String: Int] = [:]
        for (table, name) in rows.names {
            let (was, found) = (rows.counts[table] ?? 0, archive.counts[name])
            guard found == was else {
                throw BackupFailure(
                    description:
                        "\(file) is damaged: \(table) had \(was) rows, and \(found.map(String.init) ?? "none") are in it."
                )
            }
            if BackupContent.counted.contains(table) { counts[table] = found }
        }
        return BackupContent(
            schema: archive.schema, rows: counts,
            masterKeys: archive.wraps.sorted { $0.key < $1.key }.map(\.value), size: BackupFile.size(of: file))
    }
}

/// A copy that is restored for a try, into a database that is made for it and dropped again.
private enum PostgresTrial {
    static func run(
        _ file: String, _ restore: PostgresProgram, _ rows: PostgresRows, _ address: PostgresAddress,
        _ connection: PostgresConnection
    ) throws {
        let name = "countersign_try_\(UInt32.random(in: 0...(.max)))"
        let maintenance = "--maintenance-db=\(connection.database)"
        try PostgresProgram("createdb", for: connection).run(
            ["--template=template0", "--encoding=UTF8", "--no-password", maintenance, name])
        let drop = try PostgresProgram("dropdb", for: connection)
        let result = Swift.Result {
            try restore.run(
                ["--no-owner", "--no-privileges", "--exit-on-error", "--no-password", "--dbname=\(name)", file])
            let trial = try PostgresConnection(
                to: address, overriding: connection.place + [("dbname", name)], patience: .seconds(86_400))
            try trial.beginSnapshot()
            let restored = try PostgresRows(trial).counts
            let differences = Set(rows.counts.keys).union(restored.keys).filter { rows.counts[$0] != restored[$0] }
            guard differences.isEmpty else {
                throw BackupFailure(
                    description:
                        "\(file) was restored with other rows in \(differences.sorted().joined(separator: ", ")).")
            }
        }
        try drop.run(["--no-password", "--if-exists", maintenance, name])
        try result.get()
    }
}
