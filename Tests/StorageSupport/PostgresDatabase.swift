import CPostgreSQL
package import CountersignStorage
import Foundation
import Logging
import Synchronization

/// An empty database of its own on the PostgreSQL server that tests may use.
///
/// It goes with the server, which scripts/with-postgres ends.
package final class PostgresDatabase: Sendable {
    /// PostgreSQL did not do what it was told.
    package struct Failure: Error {
        /// What it said.
        package let message: String

        /// A failure in PostgreSQL's words.
        package init(message: String) { self.message = message }
    }

    /// Where the server is, with its own database: `postgresql://user@/postgres?host=…&port=…`.
    package static let server = ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_POSTGRES"]

    /// How many databases there are while others wait for one, so that no test waits for its turn at a processor for
    /// so long that its deadlines pass.
    private static let places = Mutex(6)

    /// Where the database is.
    package let url: String
    /// What it is called.
    package let name: String
    private let hasPlace: Bool

    /// Makes a database when there is a place for one; without a place when there is none for a long time.
    ///
    /// - Parameter waits: false where whoever asks lets few at a time ask.
    package static func make(waits: Bool = true) async throws -> PostgresDatabase {
        for _ in 0..<(waits ? 3000 : 0) {
            let hasPlace = places.withLock { places in
                defer { if places > 0 { places -= 1 } }
                return places > 0
            }
            if hasPlace { return try await made(hasPlace: true) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await made(hasPlace: false)
    }

    /// A new database, made on a thread of its own: the server takes its time, and there are few threads that all tests
    /// share.
    private static func made(hasPlace: Bool) async throws -> PostgresDatabase {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try PostgresDatabase(hasPlace: hasPlace) })
            }
        }
    }

    deinit {
        if hasPlace { Self.places.withLock { $0 += 1 } }
    }

    private init(hasPlace: Bool) throws {
        self.hasPlace = hasPlace
        guard let server = Self.server else { throw Failure(message: "COUNTERSIGN_TEST_POSTGRES is not set") }
        name = "test_" + String(UInt64.random(in: 0...(.max)), radix: 36)
        // Hundreds of tests beside each other can keep the server from taking a connection for longer than is usual.
        url = server.replacing("/postgres?", with: "/\(name)?connect_timeout=30&")
        let connection = PQconnectdb(server)
        defer { PQfinish(connection) }
        let result = PQexec(connection, "CREATE DATABASE \(name)")
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else {
            throw Failure(message: String(cString: PQerrorMessage(connection)))
        }
    }

    /// The port its server listens on, on this machine.
    package var port: UInt16 {
        get throws {
            guard let port = url.firstMatch(of: #/port=([0-9]+)/#).flatMap({ UInt16($0.output.1) }) else {
                throw Failure(message: "no port in COUNTERSIGN_TEST_POSTGRES")
            }
            return port
        }
    }

    /// An engine of a node of its own.
    ///
    /// - Parameters:
    ///   - port: of this machine, to reach the server through; nil for the server's own.
    ///   - hub: who is told of commits.
    ///   - notices: how it learns what others commit.
    package func engine(
        port: UInt16? = nil, hub: ChangeHub, notices: PostgresNoticeMode = .notified
    ) async throws -> PostgresEngine {
        let relayed = port.map { "postgres://countersign@127.0.0.1:\($0)/\(name)" }
        return try await Self.engine(at: relayed ?? url, hub: hub, notices: notices)
    }

    /// An engine of an address.
    package static func engine(
        at url: String, hub: ChangeHub, notices: PostgresNoticeMode = .notified
    ) async throws -> PostgresEngine {
        var settings = PostgresSettings(address: try PostgresAddress(url))
        settings.connections = 4
        settings.notices = notices
        return try await PostgresEngine(
            settings, hub: hub, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Ends every other connection to it.
    package func endConnections() throws {
        try command(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND pid <> pg_backend_pid()"
        )
    }

    /// Runs commands as the owner of the server, beside every engine, each in a transaction of its own.
    package func command(_ commands: String...) throws {
        var connection = PQconnectdb(url)
        defer { PQfinish(connection) }
        // Hundreds of tests side by side may have all connections there are.
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
