import CountersignCore
import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@Suite("Waiting for commits", .timeLimit(.minutes(15)))
struct ChangeHubTests {
    private static let mark = SQLStatement("INSERT INTO attempts (key, count, window_ends_at) VALUES ($1, 0, 0)")
    private static let never = Timestamp(milliseconds: .max)

    /// Commits a row and notifies topics with it.
    private func commit(_ key: String, waking topics: ChangeTopic..., in world: World) async throws {
        try await world.engine.write { connection in
            try connection.execute(Self.mark, [.text(key)])
            return ((), changes: topics)
        }
    }

    @Test("A notice reaches all who listen to its topic, and nobody else")
    func topics() async throws {
        let world = try await World()
        let (one, other): (ChallengeID, ChallengeID) = (world.newID(), world.newID())
        let enrollment: EnrollmentID = world.newID()
        let listening: [(ChangeTopic, any ChangeSubscription)] = [
            ChangeTopic.challenge(one), .challenge(one), .challenge(other), .enrollment(enrollment), .outbox(.mail),
            .outbox(.push),
        ].map { ($0, world.hub.subscribe(to: $0)) }
        for topic in [ChangeTopic.challenge(one), .enrollment(enrollment), .outbox(.mail)] {
            try await commit("\(topic)", waking: topic, in: world)
            for (listened, subscription) in listening {
                #expect(try await subscription.takeNotice() == (listened == topic), "\(listened) by \(topic)")
            }
        }
        try await commit("two", waking: .challenge(other), .outbox(.mail), in: world)
        for (listened, subscription) in listening {
            #expect(
                try await subscription.takeNotice()
                    == [ChangeTopic.challenge(other), .outbox(.mail)].contains(listened))
        }
    }

    @Test("A notice between the look and the wait is kept, and several are one")
    func kept() async throws {
        let world = try await World()
        let subscription = world.hub.subscribe(to: .outbox(.mail))
        for number in 0..<3 { try await commit("\(number)", waking: .outbox(.mail), in: world) }
        try await subscription.wait(until: Self.never)
        #expect(try await !subscription.takeNotice())
    }

    @Test("A commit that fails notifies nobody, and a notice comes when what it tells of can be read")
    func afterCommit() async throws {
        let world = try await World()
        let subscription = world.hub.subscribe(to: .outbox(.mail))
        await #expect(throws: Engine.chosen.uniqueViolation(of: "attempts.key")) {
            try await world.engine.write { connection in
                for _ in 0..<2 { try connection.execute(Self.mark, [.text("twice")]) }
                return ((), changes: [.outbox(.mail)])
            }
        }
        #expect(try await !subscription.takeNotice())
        #expect(try await world.count("attempts") == 0)
    }

    @Test("However commits and looks fall between each other, no notice is lost")
    func race() async throws {
        let world = try await World()
        let total: Int64 = 200
        let writers = Task {
            try await atOnce(4) { writer in
                for number in 0..<50 {
                    try await commit("\(writer) \(number)", waking: .outbox(.mail), in: world)
                }
            }
        }
        let count = SQLStatement("SELECT count(*) FROM attempts")
        // Each waits for the change after what it has seen: one lost notice, and it waits for ever.
        let seen = try await atOnce(8) { _ in
            let subscription = world.hub.subscribe(to: .outbox(.mail))
            var seen: Int64 = 0
            while true {
                seen = try await world.engine.read { try $0.rows(count, []).first?.integer(0) ?? 0 }
                if seen == total { return seen }
                try await subscription.wait(until: Self.never)
            }
        }
        _ = try await writers.value
        #expect(seen == [Int64](repeating: total, count: 8))
    }

    @Test("A wait ends at its deadline and not before")
    func deadlines() async throws {
        let world = try await World()
        let hub = world.hub
        let ticking = Task { try await hub.run() }
        defer { ticking.cancel() }
        let start = world.time.now
        let (early, late) = (hub.subscribe(to: .outbox(.mail)), hub.subscribe(to: .outbox(.mail)))
        let first = Task { try await early.wait(until: start.adding(seconds: 10)) }
        let second = Task { try await late.wait(until: start.adding(seconds: 20)) }
        world.time.set(Timestamp(milliseconds: start.milliseconds + 10_000))
        try await first.value
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        // One that is over already ends too.
        try await early.wait(until: start)
        ticking.cancel()
        await #expect(throws: CancellationError.self) { try await ticking.value }
    }

    @Test("A cancelled wait ends with that error, and the next wait is whole")
    func cancellation() async throws {
        let world = try await World()
        let subscription = world.hub.subscribe(to: .outbox(.mail))
        for round in 0..<200 {
            let wait = Task { try await subscription.wait(until: Self.never) }
            if round.isMultiple(of: 2) { await Task.yield() }
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
        }
        try await commit("after", waking: .outbox(.mail), in: world)
        try await subscription.wait(until: Self.never)
    }

    @Test("An interrupted subscription ends its wait with CancellationError, and every later one; no notice revives it")
    func interruption() async throws {
        let world = try await World()
        let subscription = world.hub.subscribe(to: .outbox(.mail))
        let other = world.hub.subscribe(to: .outbox(.mail))
        let wait = Task { try await subscription.wait(until: Self.never) }
        subscription.interrupt()
        await #expect(throws: CancellationError.self) { try await wait.value }
        try await commit("after", waking: .outbox(.mail), in: world)
        await #expect(throws: CancellationError.self) { try await subscription.wait(until: Self.never) }
        try await other.wait(until: Self.never)
    }

    @Test("A wait that is cancelled and notified at once ends once, one way or the other")
    func cancelledAndWoken() async throws {
        let world = try await World()
        let hub = world.hub
        for round in 0..<50 {
            let subscription = hub.subscribe(to: .outbox(.mail))
            let wait = Task { try await subscription.wait(until: Self.never) }
            async let commit: Void = commit("\(round)", waking: .outbox(.mail), in: world)
            wait.cancel()
            let wasNotified =
                switch await wait.result {
                case .success: true
                case .failure(let error): !(error is CancellationError)
                }
            try await commit
            // Either the wait took the notice, or it is kept for the next one.
            #expect(try await subscription.takeNotice() == !wasNotified)
        }
    }

    @Test("A subscription ends with its value: nothing is left in the hub")
    func leaks() async throws {
        let world = try await World()
        let hub = world.hub
        #expect(hub.listenerCount == 0)
        do {
            let kept = (0..<100).map { number in
                hub.subscribe(to: number.isMultiple(of: 2) ? .outbox(.mail) : .challenge(world.newID()))
            }
            #expect(hub.listenerCount == 100)
            let waits = kept.map { subscription in Task { try await subscription.wait(until: Self.never) } }
            for wait in waits { wait.cancel() }
            for wait in waits { await #expect(throws: CancellationError.self) { try await wait.value } }
        }
        #expect(hub.listenerCount == 0)
    }

    @Test("A long poll that ends, however it ends, leaves no subscription behind")
    func longPolls() async throws {
        let world = try await World()
        try await world.makeType(numberEntry: false)
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let asked = try await world.ask(try world.request(for: user), by: shop)
        let deadline = world.time.now.adding(seconds: 60)
        let polls = (0..<20).map { _ in
            Task {
                try await WatchChallenge.end(of: asked.challenge.id, for: shop, by: deadline, ports: world.ports)?
                    .challenge.state.status.state
            }
        }
        for poll in polls.prefix(10) {
            poll.cancel()
            await #expect(throws: CancellationError.self) { _ = try await poll.value }
        }
        guard case .decided = try await device.answer(asked, .denied) else { throw World.Broken("answer") }
        for poll in polls.dropFirst(10) { #expect(try await poll.value == "denied") }
        #expect(world.hub.listenerCount == 0)
    }
}
