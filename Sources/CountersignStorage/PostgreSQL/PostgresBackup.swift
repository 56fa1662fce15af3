import CountersignCore
import Foundation

/// A copy of a PostgreSQL database, made while it is in use.
package enum PostgresBackup {
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
            // Made first: whoever may not is told at once.
            let trial = triesRestore ? try PostgresTrial(at: address, beside: connection) : nil
            defer { trial?.end() }
            return try BackupFile.make(target) { draft, descriptor in
                // The moment is there for others as long as the transaction that saw it.
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
