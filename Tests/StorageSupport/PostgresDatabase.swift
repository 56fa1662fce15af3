import CPostgreSQL
package import CountersignStorage
import Foundation
import Logging
import Synchronization

/// A new database on the PostgreSQL server for tests.
///
/// It is removed together with the server, which scripts/with-postgres stops.
package final class PostgresDatabase: Sendable {
    /// A command of PostgreSQL failed.
    package struct Failure: Error {
        /// PostgreSQL's message.
        package let message: String

        package init(message: String) { self.message = message }
    }

    /// The URL of the server, with its own database: `postgresql://user@/postgres?host=…&port=…`.
    package static let server = ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_POSTGRES"]

    /// How many databases may exist at the same time; with more, tests would wait for a processor until their deadlines
    /// pass.
    private static let places = Mutex(6)

    /// The URL of the database.
    package let url: String
    /// The name of the database.
    package let name: String
    private let hasPlace: Bool

    /// The name of a database with the newest schema and nothing else.
    ///
    /// A copy of it is made sooner than all tables are created.
    private static let template = Task { try await makeTemplate() }

    /// Creates a database when there is a place; after a long wait, it does so without a place.
    ///
    /// - Parameters:
    ///   - waits: false if the caller limits concurrent calls itself.
    ///   - isMigrated: whether it has the newest schema; if not, it is empty.
    package static func make(waits: Bool = true, isMigrated: Bool = false) async throws -> PostgresDatabase {
        let template = try await isMigrated ? Self.template.value : nil
        for _ in 0..<(waits ? 3000 : 0) {
            let hasPlace = places.withLock { places in
                defer { if places > 0 { places -= 1 } }
                return places > 0
            }
            if hasPlace { return try await made(hasPlace: true, from: template) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await made(hasPlace: false, from: template)
    }

    private static func makeTemplate() async throws -> String {
        let database = try await made(hasPlace: false, from: nil)
        try await Migrations.run(on: try await database.engine(hub: ChangeHub(time: ScriptedTime())))
        // A database to which anything is connected cannot be copied.
        try execute("ALTER DATABASE \(database.name) ALLOW_CONNECTIONS false")
        try execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'")
        return database.name
    }

    /// Creates a database on a separate thread, because this takes time and all tests share few threads.
    private static func made(hasPlace: Bool, from template: String?) async throws -> PostgresDatabase {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try PostgresDatabase(hasPlace: hasPlace, from: template) })
            }
        }
    }

    /// Runs a command in the server's own database.
    private static func execute(_ command: String) throws {
        guard let server else { throw Failure(message: "COUNTERSIGN_TEST_POSTGRES is not set") }
        let connection = PQconnectdb(server)
        defer { PQfinish(connection) }
        let result = PQexec(connection, command)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw Failure(message: String(cString: PQerrorMessage(connection)))
        }
    }

    deinit {
        if hasPlace { Self.places.withLock { $0 += 1 } }
    }

    private init(hasPlace: Bool, from template: String?) throws {
        self.hasPlace = hasPlace
        guard let server = Self.server else { throw Failure(message: "COUNTERSIGN_TEST_POSTGRES is not set") }
        name = "test_" + String(UInt64.random(in: 0...(.max)), radix: 36)
        // Hundreds of concurrent tests can delay a new connection for longer than usual.
        url = server.replacing("/postgres?", with: "/\(name)?connect_timeout=30&")
        try Self.execute("CREATE DATABASE \(name)\(template.map { " TEMPLATE \($0)" } ?? "")")
    }

    /// The server's local port.
    package var port: UInt16 {
        get throws {
            guard let port = url.firstMatch(of: #/port=([0-9]+)/#).flatMap({ UInt16($0.output.1) }) else {
                throw Failure(message: "no port in COUNTERSIGN_TEST_POSTGRES")
            }
            return port
        }
    }

    /// The engine of one node.
    ///
    /// - Parameters:
    ///   - port: a local port through which the server is reached; nil for the server's own.
    ///   - hub: is notified of commits.
    ///   - notices: how the engine learns of other nodes' commits.
    package func engine(
        port: UInt16? = nil, hub: ChangeHub, notices: PostgresNoticeMode = .notified
    ) async throws -> PostgresEngine {
        let relayed = port.map { "postgres://countersign@127.0.0.1:\($0)/\(name)" }
        return try await Self.engine(at: relayed ?? url, hub: hub, notices: notices)
    }

    /// An engine for a URL.
    package static func engine(
        at url: String, hub: ChangeHub, notices: PostgresNoticeMode = .notified
    ) async throws -> PostgresEngine {
        var settings = PostgresSettings(address: try PostgresAddress(url))
        settings.connections = 4
        settings.notices = notices
        return try await PostgresEngine(
            settings, hub: hub, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Ends all other connections to the database.
    package func endConnections() throws {
        try command(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND pid <> pg_backend_pid()"
        )
    }

    /// Runs commands as the owner of the server, independently of the engines and each in its own transaction.
    package func command(_ commands: String...) throws {
        var connection = PQconnectdb(url)
        defer { PQfinish(connection) }
        // Hundreds of concurrent tests may use all connections of the server.
        for _ in 0..<40 where PQstatus(connection) != CONNECTION_OK {
            Thread.sleep(forTimeInterval: 0.25)
            PQfinish(connection)
            connection = PQconnectdb(url)
        }
        guard PQstatus(connection) == CONNECTION_OK else {
            throw Failure(message: String(cString: PQerrorMessage(connection)))
        }
        for command in commands {
            let result = PQexec(connection, command)
            defer { PQclear(result) }
            guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
                throw Failure(message: String(cString: PQerrorMessage(connection)))
            }
        }
    }
}
