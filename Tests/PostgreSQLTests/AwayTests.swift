import CountersignCore
import CountersignStorage
import Foundation
import StorageTestSupport
import Testing

@Suite("A database that is away is waited for, and not for ever", .timeLimit(.minutes(15)))
struct AwayTests {
    @Test("Connections that the server ended are replaced; nobody notices")
    func replaced() async throws {
        let world = try await World(.postgresql)
        let database = try #require(world.postgres)
        for number in 0..<5 {
            try database.endConnections()
            try await world.sql("INSERT INTO users (id, created_at) VALUES ('\(number)', 0)")
            try database.endConnections()
            #expect(try await world.count("users") == Int64(number + 1))
        }
    }

    @Test("Connections that end in the middle of transactions leave each done exactly when it was told so")
    func underLoad() async throws {
        let world = try await World(.postgresql)
        let database = try #require(world.postgres)
        let ends = Task {
            while !Task.isCancelled {
                try database.endConnections()
                try await Task.sleep(for: .milliseconds(30))
            }
        }
        let done = try await atOnce(300) { number -> Bool in
            do {
                try await world.engine.write { connection in
                    try connection.send(Relayed.insert, [.text("\(number)")])
                    return ((), changes: [.outbox(.mail)])
                }
                return true
            } catch StoreError.unavailable {
                return false
            }
        }
        ends.cancel()
        _ = await ends.result
        let rows = try await world.engine.read { try $0.rows(SQLStatement("SELECT id FROM users"), []) }
        let kept = Set(try rows.map { try $0.text(0) })
        for (number, isDone) in done.enumerated() { #expect(kept.contains("\(number)") == isDone, "write \(number)") }
        #expect(done.filter { $0 }.count > 250, "few had to be given up")
    }

    @Test("While it is away callers are told so within their time, and when it is back so is the engine")
    func away() async throws {
        try await Relayed.with { scene in
            try await scene.makeUser("before")
            scene.relay.setRefusing(true)
            let begin = ContinuousClock.now
            // A read: a write may have sent its commit before the cut was seen, and then asks for a minute what became of
            // it.
            await #expect(throws: StoreError.unavailable) {
                _ = try await scene.engine.read { try $0.rows(SQLStatement("SELECT 1"), []) }
            }
            #expect(ContinuousClock.now - begin < .seconds(20))
            // By now it is known to be away, and nobody waits for long.
            let next = ContinuousClock.now
            await #expect(throws: StoreError.unavailable) { try await scene.makeUser("meanwhile") }
            _ = try await atOnce(20) { _ in
                await #expect(throws: StoreError.unavailable) {
                    _ = try await scene.engine.read { try $0.rows(SQLStatement("SELECT 1"), []) }
                }
            }
            #expect(ContinuousClock.now - next < .seconds(5))
            scene.relay.setRefusing(false)
            while (try? await scene.makeUser("after")) == nil {}
            let rows = try await scene.world.sql("SELECT id FROM users ORDER BY id")
            #expect(try rows.map { try $0.text(0) } == ["after", "before"])
        }
    }

    @Test("A server that only reads, as one does that is no longer the first, is left for another connection")
    func readOnly() async throws {
        let world = try await World(.postgresql)
        let database = try #require(world.postgres)
        let name = database.name
        try await world.sql("INSERT INTO users (id, created_at) VALUES ('1', 0)")
        try database.command("ALTER DATABASE \(name) SET default_transaction_read_only = on")
        try database.endConnections()
        let write = Task { try await world.sql("INSERT INTO users (id, created_at) VALUES ('2', 0)") }
        try await Task.sleep(for: .milliseconds(300))
        try database.command("SET default_transaction_read_only = off", "ALTER DATABASE \(name) RESET ALL")
        _ = try await write.value
        #expect(try await world.count("users") == 2)
    }
}
