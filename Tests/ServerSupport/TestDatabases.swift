import CountersignServer
import CountersignStorage
package import Foundation
import StorageTestSupport
import Synchronization
import TestSupport

/// Chooses the database of each test server: SQLite, or PostgreSQL if the tests run with it.
package enum TestDatabases {
    /// Keeps servers on SQLite, for a test that opens the file itself.
    @TaskLocal package static var isSQLite = false

    private static let databases = Mutex<[String: PostgresDatabase]>([:])

    /// The database of the server with this data folder; a server that restarts there gets the same one.
    static func choice(for dataFolder: String) async throws -> DatabaseChoice {
        guard Engine.chosen == .postgresql, !isSQLite else { return .sqlite(path: nil) }
        let known = databases.withLock { $0[dataFolder] }
        let database: PostgresDatabase
        if let known { database = known } else { database = try await .make(waits: false) }
        databases.withLock { $0[dataFolder] = database }
        var settings = PostgresSettings(address: try PostgresAddress(database.url))
        settings.connections = 4
        return .postgresql(settings)
    }

    /// The contents of the database of the server with this data folder, as a thief could read them: the files of
    /// SQLite, or a dump of PostgreSQL.
    package static func contents(for dataFolder: String) throws -> [String: Data] {
        if let database = databases.withLock({ $0[dataFolder] }) {
            // Readable bytes are printed as they are, and not in hexadecimal.
            let dump = try Program.run(
                "/usr/bin/env", ["pg_dump", "--dbname", database.url],
                environment: ["PGOPTIONS": "-c bytea_output=escape"])
            guard dump.status == 0 else { throw PostgresDatabase.Failure(message: dump.errors) }
            return ["PostgreSQL": Data(dump.output.utf8)]
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: dataFolder).filter { $0.contains("sqlite") }
        return Dictionary(
            uniqueKeysWithValues: files.map { file in
                (file, FileManager.default.contents(atPath: "\(dataFolder)/\(file)") ?? Data())
            })
    }
}
