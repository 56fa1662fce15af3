import CountersignServer
import CountersignStorage
package import Foundation
import StorageTestSupport
import Synchronization
import TestSupport

/// Which database each test server works on: SQLite, or PostgreSQL where this run of the tests is about it.
package enum TestDatabases {
    /// Keeps servers on SQLite whatever the run is about, for a test that opens the file itself.
    @TaskLocal package static var isSQLite = false

    private static let databases = Mutex<[String: PostgresDatabase]>([:])

    /// The database of the server with this data folder; a server that starts again there finds its own.
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

    /// What the database of the server with this data folder holds, as who copied it could read it: the files of
    /// SQLite, or all that PostgreSQL gives out.
    package static func contents(for dataFolder: String) throws -> [String: Data] {
        if let database = databases.withLock({ $0[dataFolder] }) {
            // Bytes as they are where they can be read, and not in hexadecimal.
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
