import TestSupport
import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@Suite("Trying again")
struct RetryTests {
    /// The pause after the n-th failure, in milliseconds, before chance moves it by up to a quarter.
    private static func pause(after failures: Int) -> Int64 {
        failures > 11 ? 3_600_000 : min(1000 << Int64(failures), 3_600_000)
    }

    /// Moves the clock to when a message is due next.
    private func advance(_ scene: DeliveryScene, to row: DeliveryScene.Row) {
        scene.world.time.set(row.dueAt)
    }

    @Test("Twice as long after each failure, give or take a quarter, up to an hour, for 24 hours; then it is dead")
    func schedule() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(503) },
                { receiver, base in
                    let start = scene.world.time.now
                    let end = start.adding(seconds: 86400)
                    let id = try await scene.enqueue(to: base + "/hook")
                    let worker = scene.worker()
                    var pauses: [Int64] = []
                    while true {
                        let now = scene.world.time.now
                        try await worker.deliverDue()
                        let row = try await scene.row(id)
                        guard row.state == "waiting" else { break }
                        let pause = row.dueAt.milliseconds - now.milliseconds
                        pauses.append(pause)
                        let expected = Self.pause(after: pauses.count)
                        #expect(
                            (expected * 3 / 4...expected * 5 / 4).contains(pause), "pause \(pauses.count): \(pause)")
                        // Not a moment earlier.
                        scene.world.time.set(Timestamp(milliseconds: row.dueAt.milliseconds - 1))
                        try await worker.deliverDue()
                        #expect(receiver.calls.count == pauses.count)
                        advance(scene, to: row)
                    }
                    let row = try await scene.row(id)
                    #expect(row.state == "dead")
                    #expect(row.error == "the receiver answered 503")
                    // Until its time is over an operator can have it sent again.
                    #expect(row.hasPayload)
                    #expect(Int(row.attempts) == receiver.calls.count)
                    #expect(receiver.calls.count == pauses.count + 1)
                    // The last attempt lies within the lifetime, and another pause would not have.
                    #expect(scene.world.time.now < end)
                    #expect(scene.world.time.now.adding(seconds: 4500) > end)
                    #expect(pauses.count > 25)
                    let moved = zip(pauses, 1...).count { $0 != Self.pause(after: $1) }
                    #expect(moved > pauses.count / 2, "chance spreads the attempts")
                    scene.world.time.advance(seconds: 86400)
                    try await worker.deliverDue()
                    #expect(receiver.calls.count == pauses.count + 1, "what is dead rests")
                })
        }
    }

    @Test("Standard Webhooks: every attempt has the same id and content, and a time and signature of its own")
    func repeats() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { $0 < 3 ? .status(500) : .status(200) },
                { receiver, base in
                    let id = try await scene.enqueue(to: base + "/hook")
                    for _ in 0..<6 {
                        try await scene.worker().deliverDue()
                        advance(scene, to: try await scene.row(id))
                    }
                    let calls = receiver.calls
                    #expect(calls.count == 4, "a success ends it")
                    #expect(Set(calls.map(\.body)).count == 1)
                    #expect(calls.map { $0.fields["webhook-id"] } == Array(repeating: "\(id)", count: 4))
                    #expect(Set(calls.map { $0.fields["webhook-timestamp"] }).count == 4)
                    #expect(Set(calls.map { $0.fields["webhook-signature"] }).count == 4)
                    let row = try await scene.row(id)
                    #expect(row.state == "delivered")
                    #expect(row.attempts == 4)
                    #expect(!row.hasPayload)
                })
        }
    }

    @Test("What was due only after its time was over is not sent any more")
    func expired() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    let (late, last) = (
                        try await scene.enqueue(to: base), try await scene.enqueue(to: base, lifetime: 101)
                    )
                    try await scene.world.sql(
                        "UPDATE outbox SET expires_at = $1 WHERE id = $2",
                        [.integer(scene.world.time.now.adding(seconds: 100).milliseconds), .text("\(late)")])
                    scene.world.time.advance(seconds: 100)
                    try await scene.worker().deliverDue()
                    let row = try await scene.row(late)
                    #expect(row.state == "dead")
                    #expect(row.error == "its time was over before it could be sent")
                    let now = scene.world.time.now.adding(seconds: 1)
                    _ = try await scene.world.store.commit { try $0.retention.sweep(now: now, limit: 10) }
                    #expect(try await !scene.row(late).hasPayload)
                    #expect(try await scene.row(last).state == "delivered")
                    #expect(receiver.calls.map { $0.fields["webhook-id"] } == ["\(last)"])
                })
        }
    }

    @Test("The log tells of failures by id and cause, and of no secret, content or address")
    func logs() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { $0 == 0 ? .bytes([]) : .status(500, fields: ["x: reply-text"]) },
                { _, base in
                    let id = try await scene.enqueue(
                        "{\"planted\":\"payload-text\"}", to: base + "/hook?token=uri-text")
                    for _ in 0..<2 {
                        try await scene.worker().deliverDue()
                        advance(scene, to: try await scene.row(id))
                    }
                    let entries = scene.logs.entries
                    #expect(entries.count == 2)
                    #expect(
                        entries.allSatisfy { $0.hasPrefix("notice delivery failed") && $0.contains("message=\(id)") })
                    #expect(entries.last?.contains("error=the receiver answered 500") == true)
                    #expect(entries.last?.contains("attempts=2") == true)
                    let kept = try await scene.row(id).error ?? ""
                    for text in entries + [kept] {
                        for planted in [
                            "payload-text", "uri-text", "reply-text", scene.shop.callbackSecret.reveal(), "v1,",
                        ] {
                            #expect(!text.contains(planted), "\(text)")
                        }
                    }
                })
        }
    }
}
