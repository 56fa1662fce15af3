import CountersignCore
import CountersignStorage
import StorageTestSupport
import Testing

@Suite("A commit whose reply was cut off is read back before the caller is told anything")
struct CommitLookupTests {
    @Test("A commit that was done and whose reply got lost is not done again, and its caller learns that it was done")
    func replyLost() async throws {
        try await Relayed.with { scene in
            scene.relay.cutOnce(at: .reply("COMMIT\0"))
            let runs = try await scene.makeUser("first")
            #expect(runs == 1)
            #expect(scene.relay.cuts == 1)
            #expect(try await scene.world.count("users", where: "id = 'first'") == 1)
        }
    }

    @Test("A commit that never reached the server is done again, once")
    func requestLost() async throws {
        try await Relayed.with { scene in
            scene.relay.cutOnce(at: .request("never-arrives"))
            let runs = try await scene.makeUser("never-arrives")
            #expect(runs == 2)
            #expect(scene.relay.cuts == 1)
            #expect(try await scene.world.count("users", where: "id = 'never-arrives'") == 1)
        }
    }

    @Test("A reply that gets lost again and again is looked up until it is known")
    func lookupLost() async throws {
        try await Relayed.with { scene in
            scene.relay.cutOnce(at: .reply("COMMIT\0"))
            let write = Task { try await scene.makeUser("second") }
            while scene.relay.cuts < 1 { await Task.yield() }
            // The first thing that is learned is that the number was left before; that gets lost as well.
            scene.relay.cutOnce(at: .reply("commits_pkey"))
            let runs = try await write.value
            #expect(runs == 1)
            #expect(try await scene.world.count("users", where: "id = 'second'") == 1)
        }
    }

    @Test("A transaction that comes to the server after its caller ran it again on another connection is refused")
    func twoRuns() async throws {
        // What PostgresTransaction relies on: of two transactions that leave one number, one commits.
        let world = try await World(.postgresql)
        let leave = SQLStatement("INSERT INTO commits (id, run, topics) VALUES ('x', $1, '')")
        let outcomes = try await atOnce(8) { number -> Bool in
            do {
                try await world.engine.write { connection in
                    try connection.execute(leave, [.integer(Int64(number))])
                    return ((), changes: [])
                }
                return true
            } catch StoreError.uniqueViolation("commits_pkey") {
                return false
            }
        }
        #expect(outcomes.filter { $0 }.count == 1)
    }

    @Test("A write that changes nothing leaves no number; a refused one leaves nothing")
    func nothingToLookUp() async throws {
        struct Refused: Error {}
        let world = try await World(.postgresql)
        let before = try await world.engine.read { try $0.rows(SQLStatement("SELECT count(*) FROM commits"), []) }
        try await world.engine.write { connection in
            _ = try connection.rows(SQLStatement("SELECT count(*) FROM users"), [])
            return ((), changes: [])
        }
        await #expect(throws: Refused.self) {
            try await world.engine.write { connection in
                try connection.send(Relayed.insert, [.text("refused")])
                if true { throw Refused() }
                return ((), changes: [])
            }
        }
        let after = try await world.engine.read { try $0.rows(SQLStatement("SELECT count(*) FROM commits"), []) }
        #expect(try before.first?.integer(0) == after.first?.integer(0))
        #expect(try await world.count("users") == 0)
    }
}
