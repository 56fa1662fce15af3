import CountersignCore
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import Foundation
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

/// What somebody finds who has the database's files and not the master key.
@Suite("No secret stands in the database's files")
struct SealedAtRestTests {
    /// The bytes of the database's files, one after the other.
    private func bytes(of world: World) throws -> Data {
        let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.url.path).sorted()
        #expect(names.contains("countersign.sqlite") && names.contains("countersign.sqlite-wal"))
        return try names.reduce(into: Data()) { $0.append(contentsOf: try world.folder.read($1)) }
    }

    /// A secret's bytes and the usual ways to write them.
    private func spellings(_ secret: [UInt8]) -> [[UInt8]] {
        [
            secret, Array(Base64.encode(secret).utf8), Array(Base64URL.encode(secret).utf8),
            Array(Hex.encode(secret).utf8), Array(Hex.encode(secret).uppercased().utf8),
        ]
    }

    private func expectAbsent(
        _ secrets: [String: [UInt8]], in world: World, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try bytes(of: world)
        // What is no secret is found, so the search finds.
        #expect(found.range(of: Data("ACME Shop".utf8)) != nil)
        #expect(!secrets.isEmpty)
        for (name, secret) in secrets {
            for spelling in spellings(secret) {
                #expect(found.range(of: Data(spelling)) == nil, "\(name) is there", sourceLocation: sourceLocation)
            }
        }
    }

    @Test("Secrets of clients, tickets, the operator's token and the replies that told them")
    func credentials() async throws {
        let world = try await World(.sqlite)
        let token = try #require(
            try await FirstStart.prepare(store: world.store, time: world.time, random: world.random).token)
        let key = try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: [1]))
        let request = CreateClient.Request(
            name: try ClientName("ACME Shop"), rights: Set(Right.allCases),
            callbackURIs: [CallbackURI(stored: World.callback)],
            basic: BasicCredentials(username: "acme", password: Secret("marker: the callbacks' password")),
            waivesEnrollmentApproval: false)
        let made = try await CreateClient.create(request, by: .system, idempotency: key, ports: world.ports)
        guard case .done(.created(let shop)) = made else { throw World.Broken("client") }
        let renewed = try await world.renewCallbackSecret(of: shop.client)
        let user = try await world.makeUser(of: shop.client)
        let device = try await world.makeDevice(of: user, by: shop.client)
        let unused = try await world.makeTicket(for: user, by: shop.client)
        let callbackKey = try #require(Base64.decode(shop.callbackSecret.reveal().dropFirst("whsec_".count)))
        try expectAbsent(
            [
                "client secret": Array(shop.secret.reveal().utf8),
                "callback secret": Array(shop.callbackSecret.reveal().utf8),
                "renewed callback secret": Array(renewed.secret.reveal().utf8),
                "callbacks' password": Array("marker: the callbacks' password".utf8),
                "callback key": callbackKey, "spent ticket": Array(device.invitation.ticket.reveal().utf8),
                "ticket": Array(unused.ticket.reveal().utf8), "operator's token": Array(token.reveal().utf8),
                "reply": Array("\(shop.secret.reveal()) \(shop.callbackSecret.reveal())".utf8),
                "master key": [UInt8](repeating: 7, count: 32),
            ], in: world)
        #expect(try await world.store.callbackSecret(of: shop.client.id)?.isSame(as: renewed.secret) == true)
    }

    @Test("The issuer's own keys are wrapped by the master key")
    func issuerKeys() async throws {
        let world = try await World(.sqlite)
        _ = try await world.makeClient()
        let material = try await world.store.read { try $0.keys.issuerKeys() }
        var secrets = ["primary": Array(material.primary.rawRepresentation)]
        for key in material.kept { secrets[key.use.rawValue] = key.secret.reveal() }
        #expect(secrets.count == 1 + KeyUse.fromStart.count)
        try expectAbsent(secrets, in: world)
    }

    @Test("What waits to leave is sealed, and the number is nowhere")
    func challenges() async throws {
        let world = try await World(.sqlite)
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let key = try #require(IdempotencyKey(scope: "s", key: "ask", requestDigest: [1]))
        var request = try world.request(for: user)
        request.callbackURI = CallbackURI(stored: World.callback)
        let result = try await AskChallenge.ask(request, by: shop.credential, idempotency: key, ports: world.ports)
        guard case .done(.asked(let asked)) = result else { throw World.Broken("challenge") }
        let number = try #require(asked.number)
        try expectAbsent(["number": Array(number.digits.utf8)], in: world)
        guard case .decided = try await device.answer(asked, .denied) else { throw World.Broken("answer") }
        #expect(try await world.count("outbox", where: "state = 'waiting'") == 1)
        let now = world.time.now
        let leased = try await world.store.lease(limit: 1, now: now, until: now)
        guard case .callback(_, _, let body)? = leased.first?.message.content else { throw World.Broken("callback") }
        try expectAbsent(
            [
                "number": Array(number.digits.utf8), "payload": body, "a part of it": Array("\"ended_at\"".utf8),
                "its type": Array("challenge.denied\",\"timestamp".utf8),
            ], in: world)
    }
}
