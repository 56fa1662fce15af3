import CountersignCore
import CountersignDelivery
import CountersignWire
import NIOCore
import StorageTestSupport
import Testing

/// What a receiver does and what comes of it: only a complete head of `2xx` in time is a delivery.
@Suite("What a receiver answers")
struct ReplyTests {
    /// One attempt against a receiver; the row it leaves.
    private func attempt(_ reply: Receiver.Reply) async throws -> (row: DeliveryScene.Row, calls: [Receiver.Call]) {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in reply },
                { receiver, base in
                    let id = try await scene.enqueue(to: base + "/hook")
                    try await scene.worker(timeout: .seconds(1)).deliverDue()
                    let row = try await scene.row(id)
                    #expect(
                        row.state == "delivered" || row.dueAt > scene.world.time.now, "it is tried later, not at once")
                    return (row, receiver.calls)
                })
        }
    }

    private func expectRetried(
        _ outcome: (row: DeliveryScene.Row, calls: [Receiver.Call]), _ error: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.row.state == "waiting", sourceLocation: sourceLocation)
        #expect(outcome.row.attempts == 1, sourceLocation: sourceLocation)
        #expect(outcome.row.error == error, sourceLocation: sourceLocation)
        #expect(outcome.row.hasPayload, sourceLocation: sourceLocation)
    }

    @Test("Standard Webhooks: every 2xx ends it, and the content is erased", arguments: [200, 201, 202, 204, 299])
    func success(_ status: Int) async throws {
        let (row, calls) = try await attempt(.status(status))
        #expect(row.state == "delivered")
        #expect(row.attempts == 1)
        #expect(!row.hasPayload)
        #expect(calls.count == 1)
    }

    @Test(
        "Standard Webhooks: every other status is a failure that is tried again",
        arguments: [300, 304, 400, 401, 403, 404, 409, 410, 413, 418, 429, 500, 502, 503, 504, 599])
    func failure(_ status: Int) async throws {
        expectRetried(try await attempt(.status(status)), "the receiver answered \(status)")
    }

    @Test("A redirect is not followed, wherever it points", arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        let target = Receiver.Reply.status(status, fields: ["location: /elsewhere"])
        let outcome = try await attempt(target)
        expectRetried(outcome, "the receiver answered \(status)")
        #expect(outcome.calls.map(\.line) == ["POST /hook HTTP/1.1"])
    }

    @Test("A receiver that takes the request and says nothing is given up in time")
    func silence() async throws {
        expectRetried(try await attempt(.silence), "Deadline exceeded")
    }

    @Test(
        "What is no HTTP reply is a failure, not a crash and not a delivery",
        arguments: [
            "", "200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-le",
            "HTTP/1.1 200 OK\r\nbad field: 1\r\n\r\n", "\u{0}\u{1}\u{2}", "HTTP/1.1 103 Early Hints\r\n\r\n",
        ])
    func garbage(_ reply: String) async throws {
        let outcome = try await attempt(.bytes(Array(reply.utf8)))
        #expect(outcome.row.state == "waiting", "\(String(describing: outcome.row.error))")
        #expect(outcome.row.attempts == 1)
        #expect(outcome.row.hasPayload)
    }

    @Test("A head without end is a failure: nothing is kept of it")
    func endlessHead() async throws {
        let head = "HTTP/1.1 200 OK\r\nx: " + String(repeating: "a", count: 1 << 20)
        let outcome = try await attempt(.bytes(Array(head.utf8)))
        #expect(outcome.row.state == "waiting")
        #expect(outcome.row.attempts == 1)
    }

    @Test("Content without end is not read: the status decided, and the connection is let go")
    func endlessContent() async throws {
        let outcome = try await attempt(.endless)
        #expect(outcome.row.state == "delivered")
        #expect(outcome.calls.count == 1)
    }

    @Test("A receiver that is not there is tried again")
    func refused() async throws {
        try await DeliveryScene.with { scene in
            let id = try await scene.enqueue(to: "http://127.0.0.1:\(try await Receiver.closedPort())/hook")
            try await scene.worker().deliverDue()
            let row = try await scene.row(id)
            #expect(row.state == "waiting")
            #expect(row.attempts == 1)
            #expect(row.hasPayload)
        }
    }

    @Test("TLS is spoken where the URL says so: a receiver without it gets nothing")
    func plainReceiver() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    let id = try await scene.enqueue(to: base.replacing("http://", with: "https://") + "/hook")
                    try await scene.worker(timeout: .seconds(2)).deliverDue()
                    #expect(try await scene.row(id).state == "waiting")
                    #expect(receiver.calls.isEmpty)
                })
        }
    }

    @Test("A disabled client is sent nothing; enabled in time, it is told what it missed")
    func disabledClient() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    try await scene.world.sql("UPDATE clients SET disabled_at = 1")
                    let id = try await scene.enqueue(to: base + "/hook")
                    try await scene.worker().deliverDue()
                    #expect(try await scene.row(id).error == "the client is disabled")
                    #expect(try await scene.row(id).state == "waiting")
                    #expect(receiver.calls.isEmpty)
                    try await scene.world.sql("UPDATE clients SET disabled_at = NULL")
                    scene.world.time.advance(seconds: 60)
                    try await scene.worker().deliverDue()
                    #expect(try await scene.row(id).state == "delivered")
                    #expect(receiver.calls.count == 1)
                })
        }
    }

    @Test("A client without a callback secret, such as a deleted one, is sent nothing unsigned, and tried once")
    func noSecret() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    try await scene.world.sql("UPDATE clients SET callback_secret = NULL")
                    let id = try await scene.enqueue(to: base + "/hook")
                    try await scene.worker().deliverDue()
                    #expect(try await scene.row(id).error == "the client has no callback secret")
                    #expect(try await scene.row(id).state == "dead")
                    #expect(receiver.calls.isEmpty)
                })
        }
    }
}
