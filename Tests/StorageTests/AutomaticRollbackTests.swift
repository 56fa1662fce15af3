import CountersignCore
import CountersignStorage
import StorageTestSupport
import Synchronization
import Testing

/// What the transaction of a group comes to when SQLite ends it by itself, savepoints and all: none of its writes may
/// last on its own, and none may be called done.
@Suite("A transaction that the database itself rolls back")
struct AutomaticRollbackTests {
    private struct Full: Error {}

    /// How a write brings its group's transaction to an end.
    enum Harm: String, CaseIterable, Sendable {
        /// It finds the disk full.
        case fullDisk
        /// Something rolls back and says so.
        case rollback
        /// Something rolls back and goes on as if nothing were.
        case silentRollback

        /// What the write that met it is told.
        var told: String {
            switch self {
            case .fullDisk: "full"
            case .rollback: "Full()"
            case .silentRollback: "engine(\"1 (SQL logic error) no such savepoint: write\")"
            }
        }

        fileprivate func strike(_ connection: any SQLConnection) throws {
            switch self {
            case .fullDisk: try connection.execute(AutomaticRollbackTests.big, [.text("big")])
            case .rollback:
                try connection.execute(SQLStatement("ROLLBACK"), [])
                throw Full()
            case .silentRollback: try connection.execute(SQLStatement("ROLLBACK"), [])
            }
        }
    }

    fileprivate static let big = SQLStatement("INSERT INTO secrets (name, sealed) VALUES ($1, zeroblob(1000000))")

    @Test(
        "SQLite, Response to errors: nothing of its group lasts, and every write of the group is told so",
        arguments: Harm.allCases)
    func wholeGroup(_ harm: Harm) async throws {
        let world = try await World(.sqlite)
        let pages = try await world.sql("PRAGMA page_count").first?.integer(0) ?? 0
        try await world.sql("PRAGMA max_page_count = \(pages + 20)")
        // In the order in which they ran; the thirtieth does the harm.
        let ran = Mutex<[Int]>([])
        let told = try await GatheredWrites.run(60, in: world) { number, connection in
            let place = ran.withLock { ran in
                ran.append(number)
                return ran.count
            }
            if place == 30 { try harm.strike(connection) }
        }
        let order = ran.withLock { $0 }
        let harmful = order[29]
        #expect(told[harmful] == .failed(harm.told))
        try await GatheredWrites.expectTruth(told, in: world)
        for number in order.prefix(30) {
            #expect(told[number] != .done, "write \(number) went well before its transaction ended")
        }
        #expect(try await world.count("secrets", where: "name = 'big'") == 0)
    }

    @Test("The writer goes on after it", arguments: Harm.allCases)
    func goesOn(_ harm: Harm) async throws {
        let world = try await World(.sqlite)
        let pages = try await world.sql("PRAGMA page_count").first?.integer(0) ?? 0
        try await world.sql("PRAGMA max_page_count = \(pages + 20)")
        #expect(await GatheredWrites.write(1, in: world) { _, it in try harm.strike(it) } == .failed(harm.told))
        #expect(await GatheredWrites.write(2, in: world) == .done)
        try await world.sql("PRAGMA max_page_count = 1073741823")
        #expect(await GatheredWrites.write(3, in: world) { _, it in try it.execute(Self.big, [.text("big")]) } == .done)
        #expect(try await GatheredWrites.kept(in: world) == [2, 3])
        #expect(try await world.count("secrets", where: "name = 'big'") == 1)
    }
}
