import CountersignCore
import Foundation

/// Backs up a PostgreSQL database while it is in use.
package enum PostgresBackup {
    private static let exportSnapshot = SQLStatement("SELECT pg_export_snapshot()")

    /// Copies a database as of one moment, without blocking writers.
    ///
    /// `pg_dump` writes the copy in its own format. Then `pg_restore` reads every row back, and each table must have as
    /// many rows as it had in the database at that moment. Only then does the copy get its final name.
    ///
    /// - Parameters:
    ///   - address: the address of the database.
    ///   - target: the path of the copy, which must not exist yet.
    ///   - triesRestore: whether the copy is also restored into a temporary database on the same server, and compared
    ///     there.
    /// - Throws: ``BackupFailure``.
    package static func make(
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
            // Created first, so that missing permissions are reported at once.
            let trial = triesRestore ? try PostgresTrial(at: address, beside: connection) : nil
            defer { trial?.end() }
            return try BackupFile.make(target) { draft, descriptor in
                // The exported snapshot exists only as long as the transaction that exported it.
                try withExtendedLifetime(connection) {
                    try dump.run(arguments(snapshot, rows), output: descriptor)
                }
                let content = try check(draft, by: restore, against: rows)
                try trial?.run(draft, by: restore, against: rows)
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

    /// Reads a copy to its end, and compares its row counts with the database's.
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
