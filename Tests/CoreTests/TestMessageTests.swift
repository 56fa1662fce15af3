import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@Suite("One to see that they arrive")
struct TestMessageTests {
    private func send(
        to address: PersonalAddress, key: IdempotencyKey? = nil, ports: Ports, by client: Client
    ) async throws -> Replayable<SendTestMessage.Outcome> {
        try await SendTestMessage.send(
            .code, to: address, in: LanguageTag("de"), by: client.caller, idempotency: key, ports: ports
        )
    }

    private func address() throws -> PersonalAddress { .email(try #require(EmailAddress("marker@example.com"))) }

    @Test("It is queued for the mail server or the gateway, with its template, language and values")
    func queued() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let phone = PersonalAddress.phone(try #require(PhoneNumber("+15551234567")))
        for (address, kind) in [(try address(), OutboxMessage.Kind.mail), (phone, .text)] {
            guard case .done(.queued(let id)) = try await send(to: address, ports: world.ports, by: shop) else {
                Issue.record("not queued")
                return
            }
            let leased = try await world.store.lease(
                kind, limit: 9, now: world.time.now, until: world.time.now.adding(seconds: 60))
            let message = try #require(leased.first?.message)
            #expect(leased.count == 1 && message.id == id)
            #expect(message.expiresAt == world.time.now.adding(seconds: 3600))
            guard case .personal(let content, let to, let client) = message.content else {
                Issue.record("another content")
                return
            }
            #expect(to == address && client == shop.id)
            #expect(content.template == .code && content.language == LanguageTag("de"))
            #expect(content.values.mapValues { $0.reveal() } == ["code": "123456", "minutes": "10"])
            // What was delivered is erased; what was given up goes with its time.
            try await world.record(.delivered, of: message, at: world.time.now)
        }
        #expect(try await world.count("outbox", where: "state = 'delivered' AND payload IS NULL") == 2)
    }

    @Test("A mail that was given up is forgotten a day after its time, address and all")
    func forgotten() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        _ = try await send(to: try address(), ports: world.ports, by: shop)
        let now = world.time.now
        let leased = try await world.store.lease(.mail, limit: 9, now: now, until: now)
        let message = try #require(leased.first?.message)
        try await world.record(.abandoned("the mail server answered 550 5.1.1"), of: message, at: now)
        for (seconds, rows) in [(3600 + 86_399, 1), (3600 + 86_401, 0)] as [(Int64, Int64)] {
            _ = try await world.store.commit { try $0.retention.sweep(now: now.adding(seconds: seconds), limit: 100) }
            #expect(try await world.count("outbox") == rows)
        }
    }

    @Test("An address gets ten an hour, whoever sends them; another one is not held up, nor is it read in the database")
    func limit() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        for _ in 1...10 {
            guard case .done(.queued) = try await send(to: try address(), ports: world.ports, by: shop) else {
                Issue.record("not queued")
                return
            }
        }
        world.time.advance(seconds: 600)
        guard case .done(.tooMany(retryAfter: 3000)) = try await send(to: try address(), ports: world.ports, by: shop)
        else {
            Issue.record("not refused")
            return
        }
        let other = PersonalAddress.email(try #require(EmailAddress("other@example.com")))
        guard case .done(.queued) = try await send(to: other, ports: world.ports, by: shop) else {
            Issue.record("another address was held up")
            return
        }
        #expect(try await world.count("outbox") == 11)
        world.time.advance(seconds: 3001)
        guard case .done(.queued) = try await send(to: try address(), ports: world.ports, by: shop) else {
            Issue.record("not let in again")
            return
        }
    }

    @Test("Done twice with one key, it is sent once")
    func once() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let key = try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: [1]))
        guard case .done(.queued(let id)) = try await send(to: try address(), key: key, ports: world.ports, by: shop),
            case .replayed(.queued(let again)) = try await send(
                to: try address(), key: key, ports: world.ports, by: shop)
        else {
            Issue.record("not repeated")
            return
        }
        #expect(again == id)
        #expect(try await world.count("outbox") == 1)
    }

    @Test("What is not set up is refused, and nothing is counted or queued")
    func notSetUp() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let ports = world.ports(sendingBy: Transports(mail: false, text: true))
        guard case .done(.notSetUp) = try await send(to: try address(), ports: ports, by: shop) else {
            Issue.record("not refused")
            return
        }
        #expect(try await world.count("outbox") == 0)
    }
}
