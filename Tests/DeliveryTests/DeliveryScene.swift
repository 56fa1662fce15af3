import TestSupport
import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import NIOCore
import StorageTestSupport

extension OutboxWorker {
    /// Delivers what is due, once.
    func deliverDue() async throws {
        for kind in OutboxMessage.Kind.allCases {
            let batch = try await lease(kind)
            await withTaskGroup(of: Void.self) { group in
                for leased in batch { group.addTask { _ = await attempt(leased) } }
            }
        }
    }
}

/// A world with a client that is called back, and what calls it.
struct DeliveryScene: Sendable {
    /// A secret that stands in the log.
    struct Leak: Error {
        let name: String
    }

    /// A row of the outbox.
    struct Row: Equatable {
        let state: String
        let attempts: Int64
        let error: String?
        let dueAt: Timestamp
        let hasPayload: Bool
    }

    let world: World
    let shop: CreateClient.Created
    let logs = LogBook()
    let counts = DeliveryCounts()
    /// How pushes are sent; by nothing unless a test says otherwise.
    var pushes = PushSender()
    /// How messages to people are sent; by nothing unless a test says otherwise.
    var messages: MessageSender?
    private let http: HTTPClient

    /// Runs something in a scene of its own, and closes it.
    ///
    /// - Parameters:
    ///   - reach: how far callbacks may go; to this machine unless a test says otherwise.
    ///   - body: is given the scene.
    static func with<Result: Sendable>(
        reach: OutboundAddressPolicy = .publicAddressesAndLoopback, _ body: (DeliveryScene) async throws -> Result
    ) async throws -> Result {
        let world = try await World()
        let scene = DeliveryScene(
            world: world, shop: try await world.makeClient(), http: CallbackSender.makeClient(reach: reach))
        do {
            let result = try await body(scene)
            try await scene.http.shutdown()
            let search = SecretSearch([
                SecretForms("a client's secret", text: scene.shop.secret.reveal()),
                SecretForms("the secret of its callbacks", text: scene.shop.callbackSecret.reveal()),
            ])
            if let leak = search.names(in: scene.logs.entries.joined(separator: "\n")).first { throw Leak(name: leak) }
            return result
        } catch {
            try await scene.http.shutdown()
            throw error
        }
    }

    /// One attempt against a receiver; the row it leaves.
    ///
    /// - Parameters:
    ///   - reply: what the receiver answers.
    ///   - reach: how far callbacks may go.
    ///   - enqueue: queues a message to a receiver, of which it is given the base of its URLs.
    static func attempt(
        _ reply: Receiver.Reply, reach: OutboundAddressPolicy,
        _ enqueue: (DeliveryScene, String) async throws -> EventID
    ) async throws -> (row: Row, calls: [Receiver.Call]) {
        try await with(reach: reach) { scene in
            try await Receiver.with(
                { _ in reply },
                { receiver, base in
                    let id = try await enqueue(scene, base)
                    try await scene.worker(timeout: .seconds(1)).deliverDue()
                    return (try await scene.row(id), receiver.calls)
                })
        }
    }

    /// A worker on the scene's outbox.
    ///
    /// - Parameters:
    ///   - queue: the outbox; the store unless a test says otherwise.
    ///   - timeout: how long a receiver may take.
    func worker(
        on queue: (any OutboxQueue)? = nil, recordingIn store: (any Store)? = nil, timeout: TimeAmount = .seconds(15)
    ) -> OutboxWorker {
        OutboxWorker(
            queue: queue ?? world.store, ports: world.ports(on: store, loggingTo: logs.logger),
            callbacks: CallbackSender(client: http, timeout: timeout), pushes: pushes,
            messages: messages, counts: counts)
    }

    /// Runs something while a worker and the hub's clock run, and stops them.
    func working<Result: Sendable>(
        _ worker: OutboxWorker, _ body: () async throws -> Result
    ) async throws -> Result {
        let hub = world.hub
        let ticking = Task { try await hub.run() }
        let running = Task { try await worker.run() }
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        running.cancel()
        ticking.cancel()
        // Whatever was under way has ended when this returns.
        _ = await running.result
        return try result.get()
    }

    /// Queues a callback and notifies the outbox.
    @discardableResult
    func enqueue(
        _ body: String = "{\"type\":\"challenge.approved\"}", to uri: String, dueIn seconds: Int64 = 0,
        by client: ClientID? = nil, lifetime: Seconds = OutboxMessage.lifetime
    ) async throws -> EventID {
        try await enqueue(
            .callback(CallbackURI(stored: uri), client: client ?? shop.client.id, body: Array(body.utf8)),
            dueIn: seconds, lifetime: lifetime)
    }

    /// Queues a message and notifies the outbox.
    func enqueue(
        _ content: OutboxMessage.Content, dueIn seconds: Int64 = 0, lifetime: Seconds = OutboxMessage.lifetime
    ) async throws -> EventID {
        let now = world.time.now
        let message = OutboxMessage(
            id: world.newID(), content: content, dueAt: now.adding(seconds: seconds), expiresAt: now.adding(lifetime))
        try await world.store.commit { writer in
            try writer.outbox.enqueue(message)
        }
        return message.id
    }

    /// The row of a message.
    func row(_ id: EventID) async throws -> Row {
        let rows = try await world.sql(
            "SELECT state, attempts, last_error, due_at, payload IS NOT NULL FROM outbox WHERE id = $1",
            [.text("\(id)")])
        guard let row = rows.first else { throw World.Broken("no such message") }
        return Row(
            state: try row.text(0), attempts: try row.integer(1), error: try row.optionalText(2),
            dueAt: Timestamp(milliseconds: try row.integer(3)), hasPayload: try row.integer(4) == 1)
    }

    /// Waits until something holds, for as long as a slow machine may need.
    func until(_ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while try await !condition() {
            guard ContinuousClock.now < end else { throw World.Broken("it did not come to pass") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
