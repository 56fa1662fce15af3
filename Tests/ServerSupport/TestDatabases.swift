import CountersignServer
import CountersignStorage
import StorageTestSupport
import Synchronization

/// Which database each test server works on: SQLite, or PostgreSQL where this run of the tests is about it.
public enum TestDatabases {
    /// Keeps servers on SQLite whatever the run is about, for a test that opens the file itself.
    @TaskLocal public static var isSQLite = false

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
}
