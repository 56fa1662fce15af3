import CountersignCore
import CountersignStorage
import CountersignWire
import Dispatch
import Encodings
import StorageTestSupport
import Synchronization
import Testing

/// Several writes that come while another one holds the writer, so that they share a transaction.
@Suite("Writes that share a transaction")
struct GroupCommitTests {
    private static let insert = SQLStatement("INSERT INTO users (id, created_at) VALUES ($1, 0)")

    /// What a write was told.
    private enum Told: Equatable {
        case done
        case failed(String)
    }

    private struct Refused: Error {}

    /// Lets writes gather behind a blocked one, then runs them; each inserts its number as a user.
    ///
    /// - Returns: what each was told.
    private func gathered(
        _ count: Int, in world: World, _ extra: @escaping @Sendable (Int, any SQLConnection) throws -> Void
    ) async throws -> [Told] {
        let gate = DispatchSemaphore(value: 0)
        let blocker = Task {
            try await world.engine.write { _ in
                gate.wait()
                return ((), wakes: [])
            }
        }
        let arrived = Atomic(0)
        let started = AsyncStream.makeStream(of: Void.self)
        let all = Task {
            try await atOnce(count) { number -> Told in
                if arrived.wrappingAdd(1, ordering: .relaxed).newValue == count { started.continuation.finish() }
                do {
                    try await world.engine.write { connection in
                        try connection.execute(Self.insert, [.text("\(number)")])
                        try extra(number, connection)
                        return ((), wakes: [])
                    }
                    return .done
                } catch {
                    return .failed("\(error)")
                }
            }
        }
        for await _ in started.stream {}
        gate.signal()
        try await blocker.value
        return try await all.value
    }

    /// The numbers whose rows are there.
    private func kept(in world: World) async throws -> Set<Int> {
        let rows = try await world.engine.read { try $0.rows(SQLStatement("SELECT id FROM users"), []) }
        return Set(try rows.compactMap { Int(try $0.text(0)) })
    }

    /// Every write was told the truth: done exactly when its row is there.
    private func expectTruth(_ told: [Told], in world: World) async throws {
        let kept = try await kept(in: world)
        for (number, told) in told.enumerated() {
            #expect((told == .done) == kept.contains(number), "write \(number) was told \(told)")
        }
    }

    @Test("A closure that throws leaves nothing half changed and does not undo the others", arguments: Engine.allCases)
    func throwing(_ engine: Engine) async throws {
        let world = try await World(engine)
        let told = try await gathered(60, in: world) { number, connection in
            try connection.execute(Self.insert, [.text("second \(number)")])
            if number.isMultiple(of: 3) { throw Refused() }
        }
        for (number, told) in told.enumerated() {
            #expect(told == (number.isMultiple(of: 3) ? .failed("Refused()") : .done))
        }
        try await expectTruth(told, in: world)
        #expect(try await world.count("users") == 80)
    }

    @Test("A statement that fails undoes its own transaction alone", arguments: Engine.allCases)
    func failingStatement(_ engine: Engine) async throws {
        let world = try await World(engine)
        try await world.sql("INSERT INTO users (id, created_at) VALUES ('taken', 0)")
        let told = try await gathered(60, in: world) { number, connection in
            if number.isMultiple(of: 3) { try connection.execute(Self.insert, [.text("taken")]) }
        }
        for (number, told) in told.enumerated() {
            #expect((told == .done) == !number.isMultiple(of: 3), "\(number): \(told)")
        }
        try await expectTruth(told, in: world)
        #expect(try await world.count("users") == 41)
    }

    @Test("SQLite §Response to errors: where a full disk undoes the whole transaction, every write is told the truth")
    func fullDisk() async throws {
        let world = try await World()
        let pages = try await world.sql("PRAGMA page_count").first?.integer(0) ?? 0
        try await world.sql("PRAGMA max_page_count = \(pages + 20)")
        let big = SQLStatement("INSERT INTO secrets (name, sealed) VALUES ($1, zeroblob(1000000))")
        let told = try await gathered(60, in: world) { number, connection in
            if number == 30 { try connection.execute(big, [.text("big")]) }
        }
        #expect(told[30] == .failed("unavailable"))
        try await expectTruth(told, in: world)
        #expect(try await world.count("secrets", where: "name = 'big'") == 0)
        try await world.sql("PRAGMA max_page_count = 1073741823")
        let again = try await gathered(1, in: world) { _, connection in
            try connection.execute(SQLStatement("DELETE FROM users WHERE id = '1000'"), [])
            try connection.execute(big, [.text("big")])
        }
        #expect(again.count == 1, "and the writer goes on")
        #expect(try await world.count("secrets", where: "name = 'big'") == (again == [.done] ? 1 : 0))
    }

    @Test("A commit that fails is told to every write in it, and nothing of it stays")
    func failingCommit() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        try await world.sql("INSERT INTO users (id, created_at) VALUES ('earlier', 0)")
        let link = SQLStatement("INSERT INTO user_links (client_id, user_id) VALUES ($1, 'nobody')")
        let told = try await gathered(60, in: world) { number, connection in
            guard number == 30 else { return }
            // The reference is looked at when the transaction commits, not when the row is written.
            _ = try connection.rows(SQLStatement("PRAGMA defer_foreign_keys = ON"), [])
            try connection.execute(link, [.text("\(shop.id)")])
        }
        guard case .failed(let reason) = told[30] else {
            Issue.record("the failing commit was told to be done")
            return
        }
        #expect(reason.contains("FOREIGN KEY"))
        #expect(told.filter { $0 == told[30] }.count > 1, "the group had more than one write")
        try await expectTruth(told, in: world)
        #expect(try await world.count("users", where: "id = 'earlier'") == 1)
        #expect(try await world.count("user_links") == 0)
        #expect(try await gathered(1, in: world) { _, _ in }.count == 1, "and the writer goes on")
    }

    @Test("Cancelling whoever waits for a commit does not make it half: it is told done exactly when it is")
    func cancellation() async throws {
        let world = try await World()
        let gate = DispatchSemaphore(value: 0)
        let blocker = Task {
            try await world.engine.write { _ in
                gate.wait()
                return ((), wakes: [])
            }
        }
        let writes = (0..<20).map { number in
            Task { () -> Told in
                do {
                    try await world.engine.write { connection in
                        try connection.execute(Self.insert, [.text("\(number)")])
                        return ((), wakes: [])
                    }
                    return .done
                } catch {
                    return .failed("\(error)")
                }
            }
        }
        for write in writes { write.cancel() }
        gate.signal()
        try await blocker.value
        var told: [Told] = []
        for write in writes { told.append(await write.value) }
        try await expectTruth(told, in: world)
    }

    @Test("More writes at once than fit into one transaction are all done", arguments: Engine.allCases)
    func many(_ engine: Engine) async throws {
        let world = try await World(engine)
        let told = try await gathered(700, in: world) { _, _ in }
        #expect(told == [Told](repeating: .done, count: 700))
        #expect(try await kept(in: world).count == 700)
    }

    @Test("A write sees what those before it in the same transaction wrote, and nothing of those that failed")
    func sees() async throws {
        let world = try await World()
        let seen = Mutex<[Int: Int64]>([:])
        let told = try await gathered(40, in: world) { number, connection in
            let count = try connection.rows(SQLStatement("SELECT count(*) FROM users"), []).first?.integer(0) ?? -1
            seen.withLock { $0[number] = count }
            if number.isMultiple(of: 2) { throw Refused() }
        }
        // Each sees itself and the successful ones before it: the odd ones count up one by one.
        let counts = seen.withLock { seen in seen.filter { !$0.key.isMultiple(of: 2) }.values.sorted() }
        #expect(counts == Array(1...20))
        try await expectTruth(told, in: world)
    }
}
