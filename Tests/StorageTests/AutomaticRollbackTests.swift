import CountersignCore
import CountersignStorage
import CountersignWire
import Dispatch
import TestSupport
import Testing

@Suite("A transaction that the database itself rolls back")
struct AutomaticRollbackTests {
    private struct Full: Error {}

    private struct FixedTime: TimeSource {
        let now = Timestamp(milliseconds: 1_790_000_000_000)
    }

    /// A full disk makes SQLite end the whole transaction, savepoints and all; what follows in the same group must
    /// neither last on its own nor be called done.
    @Test("Nothing of its group lasts, and everybody of it is told so")
    func wholeGroupFails() async throws {
        let folder = try TemporaryFolder()
        let engine = try SQLiteEngine(path: folder.path("db.sqlite"), hub: WakeHub(time: FixedTime()))
        try await engine.write { connection in
            try connection.execute(SQLStatement("CREATE TABLE marks (name TEXT PRIMARY KEY)"), [])
            return ((), wakes: [])
        }
        let insert = SQLStatement("INSERT INTO marks (name) VALUES ($1)")
        let gate = DispatchSemaphore(value: 0)
        // Holds the writer until the others wait behind it, so that they are one group.
        let (started, announce) = AsyncStream.makeStream(of: Void.self)
        async let holder: Void = engine.write { _ in
            announce.finish()
            gate.wait()
            return ((), wakes: [])
        }
        for await _ in started {}
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<12 {
                group.addTask {
                    do {
                        try await engine.write { connection in
                            try connection.execute(insert, [.text("\(number)")])
                            if number == 6 {
                                try connection.execute(SQLStatement("ROLLBACK"), [])
                                throw Full()
                            }
                            return ((), wakes: [])
                        }
                        return true
                    } catch {
                        return false
                    }
                }
            }
            try? await Task.sleep(for: .milliseconds(200))
            gate.signal()
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await holder
        let kept = try await engine.read { try $0.rows(SQLStatement("SELECT name FROM marks"), []).count }
        #expect(outcomes.count { $0 } == kept)
        #expect(kept < 12)
        try await engine.write { connection in
            try connection.execute(insert, [.text("after")])
            return ((), wakes: [])
        }
        #expect(try await engine.read { try $0.rows(SQLStatement("SELECT name FROM marks"), []).count } == kept + 1)
    }
}
