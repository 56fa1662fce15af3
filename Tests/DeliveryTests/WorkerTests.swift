import TestSupport
import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import StorageTestSupport
import Synchronization
import Testing

@Suite("The worker that empties the outbox", .timeLimit(.minutes(15)))
struct WorkerTests {
    @Test("What is committed leaves at once, without the clock moving, in whatever order it comes")
    func notifies() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    try await scene.working(scene.worker()) {
                        var arrivals = receiver.arrivals.makeAsyncIterator()
                        for number in 0..<20 {
                            let id = try await scene.enqueue("\(number)", to: base + "/hook")
                            let call = try #require(await arrivals.next())
                            #expect(call.fields["webhook-id"] == "\(id)")
                        }
                        try await scene.until {
                            try await scene.world.count("outbox", where: "state = 'delivered'") == 20
                        }
                    }
                    #expect(receiver.calls.count == 20)
                })
        }
    }

    @Test("What was waiting before the start leaves, and what failed comes again when it is due")
    func startAndRetry() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { $0 == 0 ? .status(500) : .status(200) },
                { receiver, base in
                    let id = try await scene.enqueue(to: base + "/hook")
                    try await scene.working(scene.worker()) {
                        try await scene.until { try await scene.row(id).attempts == 1 }
                        #expect(receiver.calls.count == 1)
                        scene.world.time.set(try await scene.row(id).dueAt)
                        try await scene.until { try await scene.row(id).state == "delivered" }
                    }
                    #expect(receiver.calls.count == 2)
                })
        }
    }

    @Test("One receiver that says nothing does not hold up the others")
    func slowReceiver() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .silence },
                { silent, silentBase in
                    try await Receiver.with(
                        { _ in .status(200) },
                        { _, base in
                            try await scene.working(scene.worker()) {
                                var arrivals = silent.arrivals.makeAsyncIterator()
                                let stuck = try await scene.enqueue(to: silentBase + "/hook")
                                _ = await arrivals.next()
                                for number in 0..<20 { try await scene.enqueue("\(number)", to: base + "/hook") }
                                try await scene.until {
                                    try await scene.world.count("outbox", where: "state = 'delivered'") == 20
                                }
                                let row = try await scene.row(stuck)
                                #expect(row.state == "waiting" && row.attempts == 0)
                            }
                        })
                })
        }
    }

    @Test(
        "A stop in the middle of an attempt loses nothing and counts nothing; the next start sends it, by the same id")
    func stop() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { $0 == 0 ? .silence : .status(200) },
                { receiver, base in
                    let id = try await scene.enqueue(to: base + "/hook")
                    try await scene.working(scene.worker()) {
                        var arrivals = receiver.arrivals.makeAsyncIterator()
                        _ = await arrivals.next()
                    }
                    let row = try await scene.row(id)
                    #expect(row.state == "waiting" && row.attempts == 0 && row.hasPayload)
                    #expect(row.error == nil)
                    #expect(scene.logs.entries.isEmpty)
                    // Given back: whoever goes on, at this or another node, need not wait until the lease has run out.
                    #expect(try await scene.row(id).dueAt <= scene.world.time.now)
                    try await scene.working(scene.worker()) {
                        try await scene.until { try await scene.row(id).state == "delivered" }
                    }
                    #expect(receiver.calls.map { $0.fields["webhook-id"] } == ["\(id)", "\(id)"])
                    #expect(Set(receiver.calls.map(\.body)).count == 1)
                })
        }
    }

    @Test("A row that nobody can read does not hold up the others")
    func poisoned() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    let poisoned = try await scene.enqueue(to: base + "/hook")
                    try await scene.world.sql("UPDATE outbox SET payload = x'01'")
                    try await scene.working(scene.worker()) {
                        let id = try await scene.enqueue(to: base + "/hook")
                        try await scene.until { try await scene.row(id).state == "delivered" }
                    }
                    #expect(try await scene.row(poisoned).state == "dead")
                    #expect(receiver.calls.count == 1)
                })
        }
    }

    @Test("A store that fails for a while is told of in the log, and the worker goes on")
    func storeFails() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { _, base in
                    let id = try await scene.enqueue(to: base + "/hook")
                    let queue = FailingQueue(scene.world.store, failures: 4)
                    try await scene.working(scene.worker(on: queue)) {
                        try await scene.until { try await scene.row(id).state == "delivered" }
                    }
                    #expect(
                        scene.logs.entries
                            == Array(repeating: "error outbox cannot be read error=unavailable", count: 4))
                })
        }
    }

    @Test("A delivery that cannot be noted is made again after its lease: at least once")
    func notNoted() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    let id = try await scene.enqueue(to: base + "/hook")
                    let store = FailingStore(scene.world.store, failures: 1)
                    try await scene.worker(recordingIn: store).deliverDue()
                    #expect(try await scene.row(id).state == "waiting")
                    #expect(scene.logs.entries == ["error delivery could not be noted error=unavailable message=\(id)"])
                    try await scene.worker(recordingIn: store).deliverDue()
                    #expect(receiver.calls.count == 1, "not while the lease lasts")
                    scene.world.time.advance(OutboxWorker.lease)
                    try await scene.worker(recordingIn: store).deliverDue()
                    #expect(try await scene.row(id).state == "delivered")
                    #expect(receiver.calls.map { $0.fields["webhook-id"] } == ["\(id)", "\(id)"])
                })
        }
    }
}
