import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@Suite("Hooks, notices and callbacks each have credentials of their own")
struct PurposeTests {
    private static func signature(_ call: Receiver.Call, by secret: Secret<String>) throws -> String {
        let key = SymmetricKey(data: try #require(Base64.decode(secret.reveal().dropFirst("whsec_".count))))
        let (id, seconds) = (call.fields["webhook-id"] ?? "", call.fields["webhook-timestamp"] ?? "")
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(id).\(seconds).".utf8) + call.body, using: key)
        return "v1,\(Base64.encode(Array(code)))"
    }

    @Test("Each is signed by its own secret, by the earlier one beside it; the password goes with callbacks alone")
    func purposes() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    let (world, shop) = (scene.world, scene.shop)
                    let basic = try #require(BasicCredentials(username: "acme", password: Secret("open sesame")))
                    _ = try await UpdateClient.update(
                        shop.client.id, .init(basic: .set(basic)), by: shop.client.actor, ports: world.ports)
                    let renewed = try await world.renewCallbackSecret(of: shop.client)
                    let uri = CallbackURI(stored: base + "/hook")
                    let contents: [OutboxMessage.Content] = [
                        .callback(uri, client: shop.client.id, body: Array("{}".utf8)),
                        .notice(uri, client: shop.client.id, body: Array("{}".utf8)),
                        .hook(uri, client: shop.client.id, body: Array("{}".utf8)),
                    ]
                    var signatures: Set<String> = []
                    for (number, content) in contents.enumerated() {
                        let now = world.time.now
                        let message = OutboxMessage(
                            id: world.newID(), content: content, dueAt: now, expiresAt: now.adding(seconds: 60))
                        try await world.store.commit { try $0.outbox.enqueue(message) }
                        try await scene.worker().deliverDue()
                        let call = try #require(receiver.calls.last)
                        #expect(receiver.calls.count == number + 1)
                        let purpose = try #require(content.posted).purpose
                        let secrets = [renewed.secret, shop.callbackSecret].map {
                            world.ports.hasher.secret(for: purpose, of: $0)
                        }
                        let expected = try secrets.map { try Self.signature(call, by: $0) }
                        #expect(call.fields["webhook-signature"] == expected.joined(separator: " "))
                        #expect((call.fields["authorization"] != nil) == (purpose == .callbacks))
                        signatures.formUnion(
                            try CallbackPurpose.allCases.map { purpose in
                                try Self.signature(
                                    call, by: world.ports.hasher.secret(for: purpose, of: renewed.secret))
                            })
                    }
                    #expect(signatures.count == 9, "none signs for another")
                })
        }
    }
}
