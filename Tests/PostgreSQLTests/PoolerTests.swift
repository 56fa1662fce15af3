import CountersignCore
import CountersignWire
import Foundation
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignStorage

/// A real PgBouncer in front of a database.
private struct Pooler {
    static let path = ["/usr/sbin/pgbouncer", Program.path(of: "pgbouncer")].compactMap { $0 }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let url: String
    private let folder: TemporaryFolder
    private let program: RunningProgram

    /// Starts it; returns when it takes connections.
    init(_ mode: String, to database: PostgresDatabase) async throws {
        folder = try TemporaryFolder()
        let settings = """
            [databases]
            \(database.name) = host=127.0.0.1 port=\(try database.port) user=countersign
            [pgbouncer]
            listen_addr =
            listen_port = 6432
            unix_socket_dir = \(folder.url.path)
            auth_type = any
            pool_mode = \(mode)
            """
        let file = try folder.write("pgbouncer.ini", Array(settings.utf8))
        var arguments = ["-q", file]
        // It refuses to run as root.
        if getuid() == 0, let user = getpwnam("postgres") {
            arguments = ["-u", "postgres"] + arguments
            for path in [folder.url.path, file] { chown(path, user.pointee.pw_uid, user.pointee.pw_gid) }
        }
        program = try RunningProgram(try #require(Self.path), arguments)
        url = "postgres://countersign@/\(database.name)?host=\(folder.url.path)&port=6432"
        // Its socket is there a moment before it takes connections.
        let address = try PostgresAddress(url)
        for _ in 0..<500 where (try? PostgresConnection(to: address)) == nil {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

@Suite("Behind a connection pooler")
struct PoolerTests {
    @Test(
        "PgBouncer in session mode: a node works, and learns what others commit",
        .enabled(if: Pooler.path != nil, "pgbouncer is not installed"))
    func session() async throws {
        let world = try await World(.postgresql)
        let pooler = try await Pooler("session", to: try #require(world.postgres))
        let hub = ChangeHub(time: world.time)
        let other = try await PostgresDatabase.engine(at: pooler.url, hub: hub)
        let topic = ChangeTopic.challenge(world.newID())
        let subscription = hub.subscribe(to: topic)
        try await Self.commit("there", notifying: topic, through: world.engine)
        try await subscription.wait(until: Timestamp(milliseconds: .max))
        try await Self.commit("here", notifying: topic, through: other)
        let kept = try await other.read { connection in
            try connection.rows(SQLStatement("SELECT key FROM attempts ORDER BY key"), []).map { try $0.text(0) }
        }
        #expect(kept == ["here", "there"])
    }

    @Test(
        "PgBouncer in transaction mode is refused at the start, and the error says what to do",
        .enabled(if: Pooler.path != nil, "pgbouncer is not installed"))
    func transaction() async throws {
        let world = try await World(.postgresql)
        let pooler = try await Pooler("transaction", to: try #require(world.postgres))
        let error = await #expect(throws: PostgresEngine.Unreachable.self) {
            _ = try await PostgresDatabase.engine(at: pooler.url, hub: ChangeHub(time: world.time))
        }
        #expect(error?.reason.contains("pool_mode = session") == true, "\(error?.reason ?? "")")
    }

    @Test("A pooler that keeps prepared statements, but gives another session, is refused too")
    func otherSession() async throws {
        let world = try await World(.postgresql)
        let connection = try PostgresConnection(to: PostgresAddress(try #require(world.postgres).url))
        let touch = SQLStatement("SELECT 1")
        try PostgresSession.check(connection) { _ = try connection.rows(touch, []) }
        let error = #expect(throws: PostgresEngine.Unreachable.self) {
            // Another session has never set it.
            try PostgresSession.check(connection) { try connection.send(SQLStatement("RESET countersign.session"), []) }
        }
        #expect(error?.reason.contains("pool_mode = session") == true, "\(error?.reason ?? "")")
    }

    @Test("A full disk is told apart from other failures of the database's machine")
    func fullDisk() {
        let errors = ["53100", "53200", "58030"].map { PostgresFailure(state: $0, message: "").storeError }
        #expect(errors == [.full, .unavailable, .unavailable])
    }

    private static func commit(_ key: String, notifying topic: ChangeTopic, through engine: any SQLEngine) async throws
    {
        try await engine.write { connection in
            try connection.send(
                SQLStatement("INSERT INTO attempts (key, count, window_ends_at) VALUES ($1, 0, 0)"), [.text(key)])
            return ((), changes: [topic])
        }
    }
}
