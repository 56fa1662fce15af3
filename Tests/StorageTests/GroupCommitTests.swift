import CountersignCore
import CountersignStorage
import CountersignWire
import Dispatch
import StorageTestSupport
import Synchronization
import Testing

@Suite("Writes that share a transaction")
struct GroupCommitTests {
    private struct Refused: Error {}

    @Test("A closure that throws leaves nothing half changed and does not undo the others", arguments: Engine.allCases)
    func throwing(_ engine: Engine) async throws {
        let world = try await World(engine)
        let told = try await GatheredWrites.run(60, in: world) { number, connection in
            try connection.execute(GatheredWrites.insert, [.text("second \(number)")])
            if number.isMultiple(of: 3) { throw Refused() }
        }
        for (number, told) in told.enumerated() {
            #expect(told == (number.isMultiple(of: 3) ? .failed("Refused()") : .done))
        }
        try await GatheredWrites.expectTruth(told, in: world)
        #expect(try await world.count("users") == 80)
    }

    @Test("A statement that fails undoes its own transaction alone", arguments: Engine.allCases)
    func failingStatement(_ engine: Engine) async throws {
        let world = try await World(engine)
        try await world.sql("INSERT INTO users (id, created_at) VALUES ('taken', 0)")
        let told = try await GatheredWrites.run(60, in: world) { number, connection in
            if number.isMultiple(of: 3) { try connection.execute(GatheredWrites.insert, [.text("taken")]) }
        }
        for (number, told) in told.enumerated() {
            #expect((told == .done) == !number.isMultiple(of: 3), "\(number): \(told)")
        }
        try await GatheredWrites.expectTruth(told, in: world)
        #expect(try await world.count("users") == 41)
    }

    @Test("A commit that fails is told to every write in it, and nothing of it stays")
    func failingCommit() async throws {
        let world = try await World(.sqlite)
        let shop = try await world.makeClient().client
        try await world.sql("INSERT INTO users (id, created_at) VALUES ('earlier', 0)")
        let link = SQLStatement("INSERT INTO user_links (client_id, user_id) VALUES ($1, 'nobody')")
        let told = try await GatheredWrites.run(60, in: world) { number, connection in
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
        try await GatheredWrites.expectTruth(told, in: world)
        #expect(try await world.count("users", where: "id = 'earlier'") == 1)
        #expect(try await world.count("user_links") == 0)
        #expect(try await GatheredWrites.run(1, in: world) { _, _ in }.count == 1, "and the writer goes on")
    }

    @Test("Cancelling whoever waits for a commit does not make it half: it is told done exactly when it is")
    func cancellation() async throws {
        let world = try await World()
        let gate = DispatchSemaphore(value: 0)
        let blocker = Task {
            try await world.engine.write { _ in
                gate.wait()
                return ((), changes: [])
            }
        }
        let writes = (0..<20).map { number in Task { await GatheredWrites.write(number, in: world) } }
        for write in writes { write.cancel() }
        gate.signal()
        try await blocker.value
        var told: [GatheredWrites.Told] = []
        for write in writes { told.append(await write.value) }
        try await GatheredWrites.expectTruth(told, in: world)
    }

    @Test("More writes at once than fit into one transaction are all done", arguments: Engine.allCases)
    func many(_ engine: Engine) async throws {
        let world = try await World(engine)
        let told = try await GatheredWrites.run(700, in: world) { _, _ in }
        #expect(told == [GatheredWrites.Told](repeating: .done, count: 700))
        #expect(try await GatheredWrites.kept(in: world).count == 700)
    }

    @Test("A write sees what those before it in the same transaction wrote, and nothing of those that failed")
    func sees() async throws {
        let world = try await World(.sqlite)
        let seen = Mutex<[Int: Int64]>([:])
        let told = try await GatheredWrites.run(40, in: world) { number, connection in
            let count = try connection.rows(SQLStatement("SELECT count(*) FROM users"), []).first?.integer(0) ?? -1
            seen.withLock { $0[number] = count }
            if number.isMultiple(of: 2) { throw Refused() }
        }
        // Each sees itself and the successful ones before it: the odd ones count up one by one.
        let counts = seen.withLock { seen in seen.filter { !$0.key.isMultiple(of: 2) }.values.sorted() }
        #expect(counts == Array(1...20))
        try await GatheredWrites.expectTruth(told, in: world)
    }
}
