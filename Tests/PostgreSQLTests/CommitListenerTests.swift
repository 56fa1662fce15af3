import CountersignCore
import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignStorage

@Suite("A notice reaches those who wait on other nodes", .timeLimit(.minutes(15)))
struct CommitListenerTests {
    /// Waits until a subscription is notified; how long that took.
    private func time(of subscription: any ChangeSubscription, by change: () async throws -> Void) async throws
        -> Duration
    {
        let begin = ContinuousClock.now
        try await change()
        try await subscription.wait(until: Timestamp(milliseconds: .max))
        return ContinuousClock.now - begin
    }

    private func commit(_ key: String, waking topics: ChangeTopic..., in world: World) async throws {
        let mark = SQLStatement("INSERT INTO attempts (key, count, window_ends_at) VALUES ($1, 0, 0)")
        try await world.engine.write { connection in
            try connection.send(mark, [.text(key)])
            return ((), changes: topics)
        }
    }

    @Test("Where nodes are notified, a notice takes far less than the second after which they look by themselves")
    func notified() async throws {
        let world = try await World(.postgresql)
        let other = try await world.reopened()
        let topic = ChangeTopic.challenge(world.newID())
        let subscription = other.hub.subscribe(to: topic)
        var times: [Duration] = []
        for number in 0..<20 {
            times.append(
                try await time(of: subscription) { try await commit("\(number)", waking: topic, in: world) })
        }
        #expect(times.sorted()[10] < .milliseconds(500), "\(times)")
    }

    @Test("Where a database cannot notify, nodes look often enough by themselves")
    func polled() async throws {
        let world = try await World(.postgresql)
        let hub = ChangeHub(time: world.time)
        let other = try await #require(world.postgres).engine(hub: hub, notices: .polled)
        let topic = ChangeTopic.enrollment(world.newID())
        let subscription = hub.subscribe(to: topic)
        for number in 0..<5 {
            let time = try await time(of: subscription) { try await commit("\(number)", waking: topic, in: world) }
            #expect(time < .seconds(5))
        }
        #expect(other.commitCount.commits == 0)
    }

    @Test("A client disabled at one node waits at no other any more")
    func disabledElsewhere() async throws {
        let world = try await World(.postgresql)
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        _ = try await world.makeDevice(of: user, by: shop)
        let asked = try await world.ask(try world.request(for: user), by: shop)
        let other = try await world.reopened()
        let beginning = try await WatchChallenge.challenge(
            asked.challenge.id, for: shop.credential, waitingUntil: Timestamp(milliseconds: .max), changes: other.hub,
            ports: other.ports)
        guard case .waiting(let wait) = beginning else { throw World.Broken("wait") }
        async let outcome = wait.outcome(ports: other.ports)
        let begin = ContinuousClock.now
        _ = try await DisableClient.disable(shop.id, by: shop.actor, ports: world.ports)
        guard case .refused(.disabled) = try await outcome else { throw World.Broken("told") }
        #expect(ContinuousClock.now - begin < .seconds(5))
    }

    @Test("Every topic reaches those who wait for it and nobody else")
    func topics() async throws {
        let world = try await World(.postgresql)
        let other = try await world.reopened()
        let topics =
            [ChangeTopic.challenge(world.newID()), .enrollment(world.newID()), .authorization(world.newID())]
            + OutboxMessage.Kind.allCases.map(ChangeTopic.outbox)
        let subscriptions = topics.map { other.hub.subscribe(to: $0) }
        for (number, topic) in topics.enumerated() {
            try await commit("\(number)", waking: topic, in: world)
            try await subscriptions[number].wait(until: Timestamp(milliseconds: .max))
            for (index, subscription) in subscriptions.enumerated() where index != number {
                #expect(try await !subscription.takeNotice(), "\(topics[index]) by \(topic)")
            }
        }
    }

    @Test("A notice of an earlier version wakes all who wait for messages; one that nobody knows wakes nobody")
    func earlier() {
        #expect([ChangeTopic](words: "outbox") == OutboxMessage.Kind.allCases.map(ChangeTopic.outbox))
        #expect([ChangeTopic](words: "outbox:pigeon weather keys") == [.keys])
    }

    @Test("A node reads what others have committed and not its own, and finds it by the index")
    func others() async throws {
        let world = try await World(.postgresql)
        try await world.sql(
            """
            INSERT INTO commits (id, run, topics)
            VALUES ('a-1', 1, 'outbox'), ('ab-1', 1, 'outbox'), ('b-1', 1, 'outbox'), ('b-2', 1, '')
            """)
        let rows = try await world.engine.read { try $0.rows(PostgresCommits.news, [.integer(0), .text("a-")]) }
        // Setting the world up has left rows of its own there.
        let read = Set(try rows.compactMap { try $0.optionalText(2) }).intersection(["a-1", "ab-1", "b-1", "b-2"])
        #expect(read == ["ab-1", "b-1"])
        // Where there is nothing to read, the first transaction that has not ended is still told.
        let none = try await world.engine.read { try $0.rows(PostgresCommits.news, [.integer(.max), .text("a-")]) }
        #expect(try none.map { try $0.optionalText(2) } == [nil])
        #expect(try none.first?.integer(0) ?? 0 > 0)
        let explained = SQLStatement("EXPLAIN (COSTS OFF) \(PostgresCommits.news.text)")
        let plan = try await world.engine.read { connection in
            try connection.rows(explained, [.integer(0), .text("a-")]).map { try $0.text(0) }
        }
        #expect(plan.contains { $0.contains("commits_news") }, "\(plan)")
        #expect(plan.contains { $0.contains(#/Index Cond: .*xid >= /#) }, "\(plan)")
    }

    @Test("What was committed while a node heard nothing notifies it when it hears again")
    func missed() async throws {
        try await Relayed.with { scene in
            let topic = ChangeTopic.challenge(scene.world.newID())
            let subscription = scene.engine.changes.subscribe(to: topic)
            scene.relay.setRefusing(true)
            try await commit("missed", waking: topic, in: scene.world)
            scene.relay.setRefusing(false)
            try await subscription.wait(until: Timestamp(milliseconds: .max))
        }
    }

    @Test("A write that takes long is not missed though later ones were read before it ended")
    func slow() async throws {
        let world = try await World(.postgresql)
        let other = try await world.reopened()
        let (slow, quick) = (ChangeTopic.challenge(world.newID()), ChangeTopic.challenge(world.newID()))
        let subscriptions = (other.hub.subscribe(to: slow), other.hub.subscribe(to: quick))
        let (started, finish) = (AsyncStream.makeStream(of: Void.self), Counter())
        let write = Task {
            try await world.engine.write { connection in
                try connection.execute(Relayed.insert, [.text("slow")])
                started.continuation.finish()
                // Until the later one was read, far away from this thread.
                while finish.value == 0 { _ = try connection.rows(SQLStatement("SELECT pg_sleep(0.01)"), []) }
                return ((), changes: [slow])
            }
        }
        for await _ in started.stream {}
        try await commit("quick", waking: quick, in: world)
        try await subscriptions.1.wait(until: Timestamp(milliseconds: .max))
        finish.count()
        try await write.value
        try await subscriptions.0.wait(until: Timestamp(milliseconds: .max))
    }
}
