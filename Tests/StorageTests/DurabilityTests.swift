import CountersignCore
import CountersignStorage
import GRDB
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@Suite("What is acknowledged lasts")
struct DurabilityTests {
    @Test("The connection that writes has the write-ahead log, FULL and foreign keys, at the first start and later")
    func settings() async throws {
        let first = try await World(.sqlite, in: try TemporaryFolder(), time: ScriptedTime(), seed: 1)
        for world in [first, try await first.reopened()] {
            // Asked inside a write, so of the very connection that commits.
            #expect(try await world.sql("PRAGMA synchronous").first?.integer(0) == 2)
            #expect(try await world.sql("PRAGMA journal_mode").first?.text(0) == "wal")
            #expect(try await world.sql("PRAGMA foreign_keys").first?.integer(0) == 1)
            #expect(try await world.sql("PRAGMA busy_timeout").first?.integer(0) == 10_000)
        }
    }

    @Test(
        "A connection that is set otherwise is refused, and the error names the setting",
        arguments: [
            ("synchronous = NORMAL", "synchronous = FULL: it says 1"),
            ("synchronous = OFF", "synchronous = FULL: it says 0"),
            ("journal_mode = DELETE", "journal_mode = WAL: it says delete"),
            ("journal_mode = MEMORY", "journal_mode = WAL: it says memory"),
            ("foreign_keys = OFF", "foreign_keys = ON: it says 0"),
        ])
    func refused(_ harm: String, _ reason: String) throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"))
        try queue.writeWithoutTransaction { database in
            for setting in ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"] {
                _ = try Row.fetchAll(database, sql: "PRAGMA \(setting)")
            }
            try SQLiteDurability.demand(of: database)
            _ = try Row.fetchAll(database, sql: "PRAGMA \(harm)")
            #expect(throws: StoreError.engine("SQLite does not run with \(reason)")) {
                try SQLiteDurability.demand(of: database)
            }
        }
    }

    @Test("A file that is no database is refused and left as it is")
    func notADatabase() async throws {
        let folder = try TemporaryFolder()
        let bytes = Array(repeating: Array("not a database. ".utf8), count: 1024).flatMap { $0 }
        let path = try folder.write("db.sqlite", bytes)
        let error = #expect(throws: StoreError.self) {
            try SQLiteEngine(path: path, hub: ChangeHub(time: ScriptedTime()))
        }
        guard case .engine(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("file is not a database"))
        #expect(try folder.read("db.sqlite") == bytes)
    }

    @Test("A place where no file can be made is unavailable, not a crash")
    func noPlace() throws {
        let folder = try TemporaryFolder()
        #expect(throws: StoreError.unavailable) {
            try SQLiteEngine(path: folder.path("no/such/folder/db.sqlite"), hub: ChangeHub(time: ScriptedTime()))
        }
    }

    @Test("What was committed is there for whoever opens the files as the process left them")
    func copied() async throws {
        let world = try await World(.sqlite)
        let shop = try await world.makeClient().client
        // The copy is what a process that was killed now would leave: the log is not in the main file yet.
        let copy = try TemporaryFolder()
        for name in ["countersign.sqlite", "countersign.sqlite-wal"] {
            _ = try copy.write(name, try world.folder.read(name))
        }
        let restarted = try await World(.sqlite, in: copy, time: world.time, seed: 3)
        #expect(try await restarted.store.read { try $0.clients.find(shop.id)?.id } == shop.id)
        #expect(try await restarted.sql("PRAGMA integrity_check").first?.text(0) == "ok")
        #expect(
            try restarted.issuerKeys.certificate.fingerprint == world.issuerKeys.certificate.fingerprint,
            "the issuer is who it was")
    }
}
