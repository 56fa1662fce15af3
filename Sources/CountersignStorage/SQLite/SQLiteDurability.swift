import CountersignCore
package import GRDB

/// The settings without which a connection could lose acknowledged writes or break foreign keys.
package enum SQLiteDurability {
    /// The settings, with the value that each pragma must return.
    private static let settings = [
        // With FULL, a commit returns when it is on the disk.
        (pragma: "synchronous", needed: "2", name: "FULL"),
        (pragma: "journal_mode", needed: "wal", name: "WAL"),
        (pragma: "foreign_keys", needed: "1", name: "ON"),
    ]

    /// Reads the settings back, because SQLite does not report a pragma that it ignores.
    ///
    /// - Throws: ``StoreError/engine(_:)`` with the name of the wrong setting.
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
