import CountersignCore
import CountersignStorage
import StorageTestSupport
import Testing

@Suite("What is told of the connections to a database", .timeLimit(.minutes(15)))
struct PoolStatisticsTests {
    @Test("Work that holds every connection is counted, and what waits behind it, until it is done")
    func busy() async throws {
        let world = try await World(.postgresql)
        let finish = Counter()
        let wait = SQLStatement("SELECT pg_sleep(0.01)")
        // Four connections, as tests have; six want one.
        let work = (0..<6).map { _ in
            Task {
                try await world.engine.read { connection in
                    while finish.value == 0 { _ = try connection.rows(wait, []) }
                }
            }
        }
        var status = try #require(world.engine.poolStatistics)
        while status.busyConnections < 4 || status.waitingJobs < 2 {
            await Task.yield()
            status = try #require(world.engine.poolStatistics)
        }
        #expect(status.openConnections == 4)
        #expect(status.busyConnections == 4)
        #expect(status.waitingJobs == 2)
        #expect(status.longestWait > .zero)
        #expect(!status.isAway)
        let later = try #require(world.engine.poolStatistics)
        #expect(later.longestWait > status.longestWait, "the oldest grows older")
        finish.count()
        for task in work { try await task.value }
        while status.busyConnections != 0 {
            await Task.yield()
            status = try #require(world.engine.poolStatistics)
        }
        #expect(status.openConnections == 4)
        #expect(status.waitingJobs == 0)
        #expect(status.longestWait == .zero)
    }

    @Test("A read whose task is cancelled while it waits for a connection is not begun; a write is done")
    func abandoned() async throws {
        let world = try await World(.postgresql)
        let finish = Counter()
        let wait = SQLStatement("SELECT pg_sleep(0.01)")
        let busy = (0..<4).map { _ in
            Task {
                try await world.engine.read { connection in
                    while finish.value == 0 { _ = try connection.rows(wait, []) }
                }
            }
        }
        while world.engine.poolStatistics?.busyConnections != 4 { await Task.yield() }
        let (read, written) = (Counter(), Counter())
        let abandoned = Task { _ = try await world.engine.read { _ in read.count() } }
        let write = Task {
            try await world.engine.write { _ in
                written.count()
                return ((), changes: [])
            }
        }
        let wanted = Task { try await world.engine.read { try $0.rows(wait, []).count } }
        while world.engine.poolStatistics?.waitingJobs != 3 { await Task.yield() }
        abandoned.cancel()
        write.cancel()
        finish.count()
        await #expect(throws: CancellationError.self) { try await abandoned.value }
        #expect(try await wanted.value == 1)
        try await write.value
        #expect((read.value, written.value) == (0, 1))
        for task in busy { try await task.value }
    }

    @Test("A database that is away is told of, its connections are counted no more, and it comes back")
    func away() async throws {
        try await Relayed.with { scene in
            try await scene.makeUser("before")
            #expect(scene.engine.poolStatistics?.isAway == false)
            #expect((scene.engine.poolStatistics?.openConnections ?? 0) > 0)
            scene.relay.setRefusing(true)
            await #expect(throws: StoreError.unavailable) { try await scene.makeUser("meanwhile") }
            #expect(scene.engine.poolStatistics?.isAway == true)
            #expect(scene.engine.poolStatistics?.busyConnections == 0)
            scene.relay.setRefusing(false)
            while (try? await scene.makeUser("after")) == nil {}
            #expect(scene.engine.poolStatistics?.isAway == false)
        }
    }

    @Test("A commit without a reply is counted where it is looked up, a clash where the transaction is run again")
    func lookups() async throws {
        try await Relayed.with { scene in
            scene.relay.cutOnce(at: .reply("COMMIT\0"))
            try await scene.makeUser("first")
            #expect(scene.engine.commitCount.lookups == 1)
            #expect(scene.engine.commitCount.clashes == 0)
            let runs = Counter()
            try await scene.engine.write { _ in
                if runs.count() == 1 { throw StoreError.serializationFailure }
                return ((), changes: [])
            }
            #expect(scene.engine.commitCount.clashes == 1)
            #expect(scene.engine.commitCount.lookups == 1)
        }
    }
}
