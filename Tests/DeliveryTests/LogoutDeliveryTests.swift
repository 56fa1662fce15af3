import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import NIOCore
import StorageTestSupport
import Testing

// Spec: OpenID Connect Back-Channel Logout 1.0 §2.5 and §2.8.
@Suite("Logout tokens on their way to a client")
struct LogoutDeliveryTests {
    private static let user: UserID = ID(at: Timestamp(milliseconds: 0), random: [UInt8](repeating: 7, count: 10))

    /// Says where the shop is told of the end of sessions; nil for nowhere.
    private func listen(_ scene: DeliveryScene, at uri: String?) async throws {
        try await scene.world.store.commit { try $0.types.put(.confirm) }
        let party = RelyingParty(
            client: scene.shop.client.id, profile: .native,
            redirectURIs: [try #require(RedirectURI("https://shop.example.com/callback"))],
            logoutReceiver: uri.map { LogoutReceiver(uri: CallbackURI(stored: $0)) })
        #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
        try await scene.world.store.refreshKeys()
    }

    /// Queues that a session has ended.
    private func enqueue(_ scene: DeliveryScene, at uri: String) async throws -> EventID {
        try await scene.enqueue(
            .logout(CallbackURI(stored: uri), client: scene.shop.client.id, sid: "sid-1", of: Self.user))
    }

    /// One attempt against a receiver; the row it leaves.
    private func attempt(
        _ reply: Receiver.Reply, reach: OutboundAddressPolicy = .publicAddressesAndLoopback
    ) async throws -> (row: DeliveryScene.Row, calls: [Receiver.Call]) {
        try await DeliveryScene.attempt(reply, reach: reach) { scene, base in
            try await listen(scene, at: base + "/logout")
            return try await enqueue(scene, at: base + "/logout")
        }
    }

    /// The claims of a logout token in a request.
    private func claims(_ call: Receiver.Call, _ scene: DeliveryScene) throws -> JSONValue {
        let body = String(decoding: call.body, as: UTF8.self)
        #expect(body.hasPrefix("logout_token=") && !body.contains("&"))
        let keys = try scene.world.ports.keys.current().tokens.published
        let verified = try JWS.verify(
            String(body.dropFirst("logout_token=".count)), algorithms: [.es256], type: .exactly("logout+jwt"),
            keys: keys)
        return try JSONValue(parsing: verified.payload)
    }

    @Test("200 and 204 end it, and the content is erased; what an answer says is not read", arguments: [200, 204])
    func success(_ status: Int) async throws {
        let (row, calls) = try await attempt(.status(status))
        #expect(row.state == "delivered" && row.attempts == 1 && !row.hasPayload)
        #expect(calls.count == 1)
    }

    @Test("An answer without end is a success all the same")
    func endless() async throws {
        #expect(try await attempt(.endless).row.state == "delivered")
    }

    @Test("The client's own refusal is final, and stays for operators to look at")
    func refused() async throws {
        let (row, calls) = try await attempt(.status(400))
        #expect(row.state == "dead" && row.attempts == 1 && row.error == "the receiver answered 400")
        #expect(calls.count == 1)
    }

    @Test(
        "Every other answer may pass, and no redirect is followed",
        arguments: [201, 202, 301, 302, 303, 307, 401, 403, 404, 410, 413, 429, 500, 502, 503, 504])
    func failure(_ status: Int) async throws {
        let (row, calls) = try await attempt(.status(status, fields: ["location: /elsewhere"]))
        #expect(row.state == "waiting" && row.attempts == 1 && row.error == "the receiver answered \(status)")
        #expect(row.hasPayload && calls.map(\.line) == ["POST /logout HTTP/1.1"])
    }

    @Test("A receiver that says nothing is given up in time, and tried again")
    func silence() async throws {
        let row = try await attempt(.silence).row
        #expect(row.state == "waiting" && row.error == "Deadline exceeded")
    }

    @Test("No token goes to an address that callbacks may not connect to")
    func reach() async throws {
        let (row, calls) = try await attempt(.status(200), reach: .publicAddresses)
        #expect(row.state == "waiting" && row.error == "the receiver's address is not public")
        #expect(calls.isEmpty)
    }

    @Test("What is posted is a form with the token alone, and another token at each try")
    func posted() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { $0 == 0 ? .status(503) : .status(200) },
                { receiver, base in
                    try await listen(scene, at: base + "/logout?tenant=1")
                    let id = try await enqueue(scene, at: base + "/logout?tenant=1")
                    for _ in 0..<2 {
                        try await scene.worker().deliverDue()
                        scene.world.time.advance(seconds: 600)
                    }
                    #expect(try await scene.row(id).state == "delivered")
                    let calls = receiver.calls
                    #expect(calls.count == 2)
                    let tokens = try calls.map { try claims($0, scene) }
                    for (call, token) in zip(calls, tokens) {
                        #expect(call.line == "POST /logout?tenant=1 HTTP/1.1")
                        #expect(call.fields["content-type"] == "application/x-www-form-urlencoded")
                        #expect(call.fields["cache-control"] == "no-store")
                        #expect(call.fields["authorization"] == nil && call.fields["webhook-signature"] == nil)
                        #expect(token["sid"] == "sid-1" && token["sub"] == .string("\(Self.user)"))
                    }
                    let times = try tokens.map { try #require($0["iat"]?.integer) }
                    #expect(times[1] == times[0] + 600 && tokens[0]["jti"] != tokens[1]["jti"])
                    let counts = scene.counts.counts.filter { $0.kind == .logout }.map { ($0.outcome, $0.count) }
                    #expect(counts.map(\.1) == [1, 1, 0], "\(counts)")
                })
        }
    }

    @Test("It goes where the client listens when it is sent; nowhere once the client listens no more")
    func moved() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    try await listen(scene, at: base + "/new")
                    let client = scene.shop.client.id
                    let moved = try await enqueue(scene, at: base + "/old")
                    _ = try await DisableClient.disable(client, by: .system, ports: scene.world.ports)
                    try await scene.worker().deliverDue()
                    let waiting = try await scene.row(moved)
                    #expect(waiting.state == "waiting" && waiting.error == "the client is disabled")
                    _ = try await EnableClient.enable(client, by: .system, ports: scene.world.ports)
                    scene.world.time.advance(seconds: 60)
                    try await scene.worker().deliverDue()
                    #expect(receiver.calls.map(\.line) == ["POST /new HTTP/1.1"])
                    #expect(try await scene.row(moved).state == "delivered")
                    let late = try await enqueue(scene, at: base + "/new")
                    try await listen(scene, at: nil)
                    try await scene.worker().deliverDue()
                    let dropped = try await scene.row(late)
                    #expect(dropped.state == "dead" && dropped.error == "the client is no longer told of sessions")
                    #expect(receiver.calls.count == 1)
                })
        }
    }
}
