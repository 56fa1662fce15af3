import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import NIOCore
import StorageTestSupport
import Testing

// Spec: CIBA Core 1.0 §10.2 and §10.3.
@Suite("What was decided, on its way to a client's server")
struct BackchannelDeliveryTests {
    /// Registers the shop, asks for somebody, and queues that they have decided.
    private func enqueue(
        _ scene: DeliveryScene, at uri: String, isPush: Bool = false
    ) async throws -> (message: EventID, request: String) {
        try await scene.world.store.commit { try $0.types.put(.confirm) }
        let receiver = CallbackURI(stored: uri)
        let client = scene.shop.client.id
        let party = RelyingParty(
            client: client, profile: .web, redirectURIs: [],
            backchannel: RelyingParty.Backchannel(delivery: isPush ? .push(receiver) : .ping(receiver)))
        #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        try await scene.world.store.refreshKeys()
        var request = BeginBackchannel.Request(by: client, for: .name("customer-1@example.com"))
        request.scopes = ["openid"]
        request.notificationToken = NotificationToken("t-1")
        guard case .begun(let begun) = try await BeginBackchannel.begin(request, ports: scene.world.ports),
            let name = begun.authRequestID.reveal().split(separator: ".").first,
            let id = AuthorizationID(String(name))
        else { throw World.Broken("begun") }
        let message = try await scene.enqueue(.backchannel(receiver, client: client, of: id, .decided), lifetime: 120)
        return (message, begun.authRequestID.reveal())
    }

    /// One attempt against a receiver; the row it leaves.
    private func attempt(
        _ reply: Receiver.Reply, reach: OutboundAddressPolicy = .publicAddressesAndLoopback
    ) async throws -> (row: DeliveryScene.Row, calls: [Receiver.Call]) {
        try await DeliveryScene.attempt(reply, reach: reach) { scene, base in
            try await enqueue(scene, at: base + "/ciba").message
        }
    }

    @Test("200 and 204 end it; what an answer says is not read", arguments: [200, 204])
    func success(_ status: Int) async throws {
        let (row, calls) = try await attempt(.status(status))
        #expect(row.state == "delivered" && row.attempts == 1 && !row.hasPayload && calls.count == 1)
    }

    // Modules: -ping-with-mtls-ciba-notification-endpoint-response-401-and-require-server-does-not-retry,
    // -ping-backchannel-notification-endpoint-return-redirect-request
    @Test(
        "A client that refuses its own token, or sends us elsewhere, is told once",
        arguments: [301, 302, 303, 307, 400, 401, 403])
    func refused(_ status: Int) async throws {
        let (row, calls) = try await attempt(.status(status, fields: ["location: /elsewhere"]))
        #expect(row.state == "dead" && row.error == "the receiver answered \(status)")
        #expect(calls.map(\.line) == ["POST /ciba HTTP/1.1"])
    }

    @Test("Every other answer may pass", arguments: [404, 408, 429, 500, 502, 503, 504])
    func failure(_ status: Int) async throws {
        let (row, _) = try await attempt(.status(status))
        #expect(row.state == "waiting" && row.attempts == 1 && row.hasPayload)
        #expect(row.error == "the receiver answered \(status)")
    }

    @Test("A receiver that says nothing is given up in time, and tried again")
    func silence() async throws {
        let row = try await attempt(.silence).row
        #expect(row.state == "waiting" && row.error == "Deadline exceeded")
    }

    @Test("Nothing goes to an address that callbacks may not connect to")
    func reach() async throws {
        let (row, calls) = try await attempt(.status(200), reach: .publicAddresses)
        #expect(row.state == "waiting" && row.error == "the receiver's address is not public")
        #expect(calls.isEmpty)
    }

    @Test("A ping that fails is sent again, with the client's token and the id of the request alone")
    func again() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { $0 == 0 ? .status(503) : .status(204) },
                { receiver, base in
                    let (id, request) = try await enqueue(scene, at: base + "/ciba?tenant=1")
                    for _ in 0..<2 {
                        try await scene.worker().deliverDue()
                        scene.world.time.advance(seconds: 10)
                    }
                    #expect(try await scene.row(id).state == "delivered")
                    #expect(receiver.calls.count == 2)
                    for call in receiver.calls {
                        #expect(call.line == "POST /ciba?tenant=1 HTTP/1.1")
                        #expect(call.fields["authorization"] == "Bearer t-1")
                        #expect(call.fields["content-type"] == "application/json")
                        #expect(call.fields["webhook-signature"] == nil)
                        #expect(try JSONValue(parsing: call.body) == ["auth_req_id": .string(request)])
                    }
                    let counts = scene.counts.counts.filter { $0.kind == .backchannel }.map { ($0.outcome, $0.count) }
                    #expect(counts.map(\.1) == [1, 1, 0], "\(counts)")
                })
        }
    }

    @Test("A server that starts again in the last minute of a request does not tell of its end before it")
    func restarted() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    _ = try await enqueue(scene, at: base + "/ciba", isPush: true)
                    try await scene.worker().deliverDue()
                    scene.world.time.advance(seconds: 90)
                    try await scene.world.store.endLeases(at: scene.world.time.now, longest: OutboxWorker.lease)
                    try await scene.worker().deliverDue()
                    #expect(receiver.calls.isEmpty)
                    scene.world.time.advance(seconds: 30)
                    try await scene.worker().deliverDue()
                    let body = try JSONValue(parsing: try #require(receiver.calls.first).body)
                    #expect(body["error"] == "expired_token" && receiver.calls.count == 1)
                })
        }
    }

    @Test("Nobody's tokens are brought: who has not been asked has decided nothing")
    func undecided() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    let id = try await enqueue(scene, at: base + "/ciba", isPush: true).message
                    try await scene.worker().deliverDue()
                    #expect(try await scene.row(id).state == "delivered")
                    #expect(receiver.calls.isEmpty)
                    // Nobody answers in time, which is told.
                    scene.world.time.advance(seconds: 120)
                    try await scene.worker().deliverDue()
                    let body = try JSONValue(parsing: try #require(receiver.calls.first).body)
                    #expect(body["error"] == "expired_token")
                })
        }
    }
}
