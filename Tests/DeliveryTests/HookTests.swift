import CountersignCore
import CountersignDelivery
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import Testing

@Suite("Asking the hooks of custom authenticators", .timeLimit(.minutes(5)))
struct HookTests {
    private static func question(
        _ world: World, _ client: ClientID, at url: String, deadline: Int64 = 5, id: String = "chl_1.abc"
    ) throws -> HookQuestion {
        let authenticator = CustomAuthenticator(
            name: try #require(AuthenticatorName("phrase")), hook: CallbackURI(stored: url), deadline: Seconds(deadline)
        )
        return HookQuestion(
            id: id, askedAt: world.time.now, purpose: .register, authenticator: authenticator, client: client,
            enrollment: world.newID(), user: world.newID(), externalID: nil, data: Secret("correct horse"))
    }

    /// What a hook's answer amounts to.
    private static func ask(
        answering reply: Receiver.Reply, reach: OutboundAddressPolicy = .publicAddressesAndLoopback, deadline: Int64 = 5
    ) async throws -> (verdict: HookVerdict?, calls: Int, seconds: Double) {
        let world = try await World()
        let shop = try await world.makeClient().client
        return try await Receiver.with({ _ in reply }) { receiver, base in
            try await with(reach, world) { caller in
                let question = try question(world, shop.id, at: base + "/hook", deadline: deadline)
                let start = ContinuousClock.now
                let verdict = await caller.ask(question)
                return (verdict, receiver.calls.count, (ContinuousClock.now - start) / .seconds(1))
            }
        }
    }

    private static func with<Result: Sendable>(
        _ reach: OutboundAddressPolicy, _ world: World, _ body: (HookCaller) async throws -> Result
    ) async throws -> Result {
        let caller = HookCaller(reach: reach, queue: world.store, hasher: world.ports.hasher)
        caller.start()
        do {
            let result = try await body(caller)
            try await caller.shutdown()
            return result
        } catch {
            try await caller.shutdown()
            throw error
        }
    }

    private static func reply(_ body: String, status: String = "200 OK") -> Receiver.Reply {
        .bytes(Array("HTTP/1.1 \(status)\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
    }

    @Test("Standard Webhooks: a question is signed, and the verdict comes back")
    func asked() async throws {
        let world = try await World()
        let shop = try await world.makeClient()
        try await Receiver.with({ _ in Self.reply(#"{"result":"retry","payload":"colder"}"#) }) { receiver, base in
            try await Self.with(.publicAddressesAndLoopback, world) { caller in
                let question = try Self.question(world, shop.client.id, at: base + "/hook?a=b")
                #expect(await caller.ask(question) == HookVerdict(.retry, payload: "colder"))
                let call = try #require(receiver.calls.first)
                #expect(call.line == "POST /hook?a=b HTTP/1.1")
                #expect(call.fields["content-type"] == "application/json")
                #expect(try JSONValue(parsing: call.body) == question.json)
                #expect(call.fields["webhook-id"] == "chl_1.abc")
                let seconds = world.time.now.seconds
                #expect(call.fields["webhook-timestamp"] == "\(seconds)")
                let secret = world.ports.hasher.secret(for: .hooks, of: shop.callbackSecret).reveal()
                let key = SymmetricKey(data: try #require(Base64.decode(secret.dropFirst("whsec_".count))))
                let code = HMAC<SHA256>.authenticationCode(
                    for: Array("chl_1.abc.\(seconds).".utf8) + call.body, using: key)
                #expect(call.fields["webhook-signature"] == "v1,\(Base64.encode(Array(code)))")
            }
        }
    }

    @Test(
        "What is not status 200 with a verdict is none",
        arguments: [
            reply("{}"), reply("ok"), reply(""), reply(#"{"result":"ok"}"#, status: "201 Created"),
            reply(#"{"result":"ok"}"#, status: "500 No"), reply(#"{"result":"ok"}"#, status: "410 Gone"),
            .status(302, fields: ["location: /other"]), .status(200), .endless, .bytes([]),
            .bytes(Array("HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"result\"".utf8)),
            reply(#"{"result":"ok","x":""# + String(repeating: "x", count: 17_000) + #""}"#),
        ] as [Receiver.Reply])
    func noVerdict(_ reply: Receiver.Reply) async throws {
        let asked = try await Self.ask(answering: reply)
        #expect(asked.verdict == nil && asked.calls == 1)
    }

    @Test("A hook that says nothing is waited for until its deadline")
    func deadline() async throws {
        let asked = try await Self.ask(answering: .silence, deadline: 1)
        #expect(asked.verdict == nil && asked.calls == 1)
        // On a loaded machine it takes longer; without a deadline, fifteen seconds.
        #expect(asked.seconds >= 1 && asked.seconds < 14, "\(asked.seconds)")
    }

    @Test("A hook whose verdict comes byte by byte is waited for until its deadline, and no longer")
    func dripping() async throws {
        let asked = try await Self.ask(answering: .dripping(#"{"result": "ok"}"#), deadline: 1)
        #expect(asked.verdict == nil && asked.calls == 1)
        #expect(asked.seconds >= 1 && asked.seconds < 14, "\(asked.seconds)")
        let patient = try await Self.ask(answering: .dripping(#"{"result": "ok"}"#), deadline: 60)
        #expect(patient.verdict == HookVerdict(.ok))
    }

    @Test("A hook goes no further than callbacks: not to this machine, where that is not allowed")
    func reach() async throws {
        let asked = try await Self.ask(answering: Self.reply(#"{"result":"ok"}"#), reach: .publicAddresses)
        #expect(asked.verdict == nil && asked.calls == 0)
    }

    @Test("Nobody is asked where nobody listens, for a client without a secret, or by a server that does not run")
    func nobody() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let port = try await Receiver.closedPort()
        try await Self.with(.publicAddressesAndLoopback, world) { caller in
            let question = try Self.question(world, shop.id, at: "http://127.0.0.1:\(port)/")
            #expect(await caller.ask(question) == nil)
        }
        try await Receiver.with({ _ in Self.reply(#"{"result":"ok"}"#) }) { receiver, base in
            let question = try Self.question(world, shop.id, at: base)
            let unknown = try Self.question(world, world.newID(), at: base)
            let stopped = HookCaller(
                reach: .publicAddressesAndLoopback, queue: world.store, hasher: world.ports.hasher)
            #expect(await stopped.ask(question) == nil)
            try await Self.with(.publicAddressesAndLoopback, world) { caller in
                #expect(await caller.ask(unknown) == nil)
                #expect(receiver.calls.isEmpty)
                #expect(await caller.ask(question) == HookVerdict(.ok))
            }
        }
    }
}
