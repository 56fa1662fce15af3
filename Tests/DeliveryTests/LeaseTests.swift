import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@Suite("Each message is one worker's at a time")
struct LeaseTests {
    private static let uri = World.callback

    @Test("Of many that lease at once each message goes to one")
    func once() async throws {
        try await DeliveryScene.with { scene in
            var queued: Set<EventID> = []
            for _ in 0..<60 { queued.insert(try await scene.enqueue(to: Self.uri)) }
            let now = scene.world.time.now
            let leased = try await atOnce(10) { _ in
                try await scene.world.store.lease(limit: 9, now: now, until: now.adding(seconds: 60))
                    .map(\.message.id)
            }.flatMap { $0 }
            #expect(leased.count == 60)
            #expect(Set(leased) == queued)
        }
    }

    @Test("Two workers on one outbox send each message once")
    func workers() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    for number in 0..<40 { try await scene.enqueue("\(number)", to: base + "/hook") }
                    _ = try await atOnce(4) { _ in
                        for _ in 0..<3 { try await scene.worker().deliverDue() }
                    }
                    #expect(try await scene.world.count("outbox", where: "state = 'delivered'") == 40)
                    #expect(Set(receiver.calls.map(\.body)).count == 40)
                    #expect(receiver.calls.count == 40)
                })
        }
    }

    @Test("What has been due longest goes first, and what is not due stays")
    func order() async throws {
        try await DeliveryScene.with { scene in
            var ids: [EventID] = []
            for seconds: Int64 in [30, 10, 20, 60] { ids.append(try await scene.enqueue(to: Self.uri, dueIn: seconds)) }
            let store = scene.world.store
            let start = scene.world.time.now
            #expect(try await store.nextDue() == start.adding(seconds: 10))
            #expect(try await store.lease(limit: 9, now: start, until: start.adding(seconds: 60)).isEmpty)
            let now = start.adding(seconds: 30)
            let first = try await store.lease(limit: 2, now: now, until: now.adding(seconds: 60))
            #expect(Set(first.map(\.message.id)) == [ids[1], ids[2]])
            let second = try await store.lease(limit: 2, now: now, until: now.adding(seconds: 60))
            #expect(second.map(\.message.id) == [ids[0]])
            #expect(try await store.nextDue() == start.adding(seconds: 60))
        }
    }

    @Test("A worker that died loses its lease by itself, to the second, and the attempt is not counted")
    func crash() async throws {
        try await DeliveryScene.with { scene in
            let id = try await scene.enqueue(to: Self.uri)
            let store = scene.world.store
            let start = scene.world.time.now
            let until = start.adding(OutboxWorker.lease)
            #expect(try await store.lease(limit: 1, now: start, until: until).count == 1)
            let before = Timestamp(milliseconds: until.milliseconds - 1)
            #expect(try await store.lease(limit: 1, now: before, until: before.adding(seconds: 60)).isEmpty)
            let again = try await store.lease(limit: 1, now: until, until: until.adding(seconds: 60))
            #expect(again.map(\.message.id) == [id])
            #expect(again.first?.attempts == 0)
        }
    }

    @Test("The next start on the same folder ends the leases of the last one, and no later due times")
    func restart() async throws {
        try await DeliveryScene.with { scene in
            let leased = try await scene.enqueue(to: Self.uri)
            let later = try await scene.enqueue(to: Self.uri, dueIn: 61)
            let store = scene.world.store
            let now = scene.world.time.now
            _ = try await store.lease(limit: 1, now: now, until: now.adding(OutboxWorker.lease))
            let delivered = try await scene.enqueue(to: Self.uri)
            try await store.commit { _ = try $0.outbox.settle([delivered: .delivered], at: now) }
            let restarted = try await scene.world.reopened().store
            try await restarted.endLeases(at: now, longest: OutboxWorker.lease)
            let again = try await restarted.lease(limit: 9, now: now, until: now.adding(seconds: 60))
            #expect(again.map(\.message.id) == [leased])
            #expect(try await scene.row(later).dueAt == now.adding(seconds: 61))
            #expect(try await scene.row(delivered).state == "delivered")
        }
    }

    @Test("Of attempts that end together each is noted for itself, without those that another settled before")
    func together() async throws {
        try await DeliveryScene.with { scene in
            let store = scene.world.store
            let now = scene.world.time.now
            let later = now.adding(seconds: 2)
            for _ in 0..<5 { try await scene.enqueue(to: Self.uri) }
            let messages = try await store.lease(limit: 5, now: now, until: now.adding(seconds: 60)).map(\.message)
            try #require(messages.count == 5)
            try await scene.world.record(.delivered, of: messages[3], at: now)
            let outcomes: [DeliveryOutcome] = [
                .abandoned("no"), .retried("slow", at: later), .delivered, .abandoned("late"), .delivered,
            ]
            let settled = try await RecordDelivery.record(
                zip(messages, outcomes).map { EndedAttempt($0, as: $1) }, at: now, ports: scene.world.ports)
            #expect(
                settled == [
                    messages[0].id: .abandoned("no"), messages[1].id: .retried("slow", at: later),
                    messages[2].id: .delivered, messages[4].id: .delivered,
                ])
            var states: [String] = []
            for message in messages { states.append(try await scene.row(message.id).state) }
            #expect(states == ["dead", "waiting", "delivered", "delivered", "delivered"])
            #expect(try await scene.row(messages[1].id).dueAt == later)
            #expect(try await RecordDelivery.record([], at: now, ports: scene.world.ports).isEmpty)
        }
    }

    @Test("A worker that comes too late cannot bring back what another delivered")
    func late() async throws {
        try await DeliveryScene.with { scene in
            let id = try await scene.enqueue(to: Self.uri)
            let store = scene.world.store
            let now = scene.world.time.now
            _ = try await store.lease(limit: 1, now: now, until: now)
            _ = try await store.lease(limit: 1, now: now, until: now.adding(seconds: 60))
            try await store.commit { _ = try $0.outbox.settle([id: .delivered], at: now) }
            try await store.commit { _ = try $0.outbox.settle([id: .retried("late", at: now)], at: now) }
            #expect(try await scene.row(id).state == "delivered")
            try await store.commit { _ = try $0.outbox.settle([id: .abandoned("late")], at: now) }
            let row = try await scene.row(id)
            #expect(row.state == "delivered")
            #expect(row.error == nil)
            #expect(try await store.lease(limit: 1, now: now, until: now).isEmpty)
            #expect(try await store.nextDue() == nil)
        }
    }
}
