import CountersignCore
package import GRDB

/// What a connection must be set to before it may write: without it, what was acknowledged could be lost or wrong.
package enum SQLiteDurability {
    /// The settings, as the pragma of each name tells them.
    private static let settings = [
        // FULL: a commit returns when the disk has it.
        (pragma: "synchronous", needed: "2", name: "FULL"),
        (pragma: "journal_mode", needed: "wal", name: "WAL"),
        (pragma: "foreign_keys", needed: "1", name: "ON"),
    ]

    /// Reads the settings back: SQLite says nothing when it cannot or does not follow a pragma.
    ///
    /// - Throws: ``StoreError/engine(_:)`` that names the setting.
    package static func demand(of database: Database) throws {
        for setting in settings {
            let value = try DatabaseValue.fetchOne(database, sql: "PRAGMA \(setting.pragma)")?.storage.value
            let found = value.map { "\($0)" } ?? "nothing"
            guard found == setting.needed else {
                throw StoreError.engine(
                    "SQLite does not run with \(setting.pragma) = \(setting.name): it says \(found)")
            }
        }
    }
}
