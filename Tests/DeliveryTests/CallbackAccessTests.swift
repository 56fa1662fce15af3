import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import TestSupport
import Testing

/// What callbacks bring for the receiver to know them by, and when they are sent no more.
@Suite("Callbacks: two secrets, a name and a password, and receivers that are gone", .timeLimit(.minutes(15)))
struct CallbackAccessTests {
    /// The secrets by which a callback is signed: each signature is tried with each of them.
    private func signers(of call: Receiver.Call, among secrets: [Secret<String>]) throws -> [Int?] {
        let fields = call.fields
        let signed =
            Array("\(fields["webhook-id"] ?? "").\(fields["webhook-timestamp"] ?? "").".utf8) + call.body
        let keys = try secrets.map { secret in
            SymmetricKey(data: try #require(Base64.decode(secret.reveal().dropFirst("whsec_".count))))
        }
        return try (fields["webhook-signature"] ?? "").split(separator: " ").map { signature in
            #expect(signature.hasPrefix("v1,"))
            let code = try #require(Base64.decode(signature.dropFirst("v1,".count)))
            return keys.firstIndex { HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: $0) }
        }
    }

    @Test("Standard Webhooks, Signature scheme: the earlier secret signs beside the new one, until its time is over")
    func overlap() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(204) },
                { receiver, base in
                    let first = scene.shop.callbackSecret
                    let client = scene.shop.client
                    let second = try await scene.world.renewCallbackSecret(of: client, overlap: 3600)
                    #expect(second.earlierUntil == scene.world.time.now.adding(seconds: 3600))
                    try await scene.deliver(to: base)
                    scene.world.time.advance(seconds: 3599)
                    try await scene.deliver(to: base)
                    scene.world.time.advance(seconds: 1)
                    try await scene.deliver(to: base)
                    // One that is known to others signs nothing from now on, nor does the one before it.
                    let third = try await scene.world.renewCallbackSecret(of: client, overlap: 0)
                    try await scene.deliver(to: base)
                    let secrets = [first, second.secret, third.secret]
                    let signers = try receiver.calls.map { try self.signers(of: $0, among: secrets) }
                    #expect(signers == [[1, 0], [1, 0], [1], [2]])
                })
        }
    }

    @Test("RFC 7617 §2: a name and a password go to the receivers of their client, until they are removed")
    func basic() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(204) },
                { receiver, base in
                    let credentials = try #require(
                        BasicCredentials(username: "acmé", password: Secret("open: sesame")))
                    try await scene.update(.init(basic: .set(credentials)))
                    try await scene.deliver(to: base)
                    try await scene.update(.init(name: try ClientName("ACME")))
                    try await scene.deliver(to: base)
                    try await scene.update(.init(basic: .removed))
                    try await scene.deliver(to: base)
                    let field = "Basic " + Base64.encode(Array("acmé:open: sesame".utf8))
                    #expect(receiver.calls.map { $0.fields["authorization"] } == [field, field, nil])
                    #expect(receiver.calls.allSatisfy { $0.fields["webhook-signature"]?.hasPrefix("v1,") == true })
                    #expect(!scene.logs.entries.joined().contains("sesame"))
                })
        }
    }

    @Test(
        "RFC 7617 §2: a name has no colon, neither has control characters, neither is empty or too long",
        arguments: [
            ("a:b", "p"), ("", "p"), ("a", ""), ("a\n", "p"), ("a", "p\r\nX: y"), ("a", "\u{0}"), ("a\u{85}", "p"),
            (String(repeating: "a", count: 129), "p"), ("a", String(repeating: "é", count: 65)),
        ])
    func credentials(_ username: String, _ password: String) {
        #expect(BasicCredentials(username: username, password: Secret(password)) == nil)
        #expect(BasicCredentials(username: "a", password: Secret(String(repeating: "é", count: 64))) != nil)
    }

    @Test(
        "Standard Webhooks, Delivery: a receiver that says for ten minutes that it is gone is called no more, until set anew"
    )
    func gone() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { $0 < 3 ? .status(410) : .status(204) },
                { receiver, base in
                    let worker = scene.worker()
                    let first = try await scene.enqueue(to: base + "/gone")
                    try await worker.deliverDue()
                    #expect(try await scene.row(first).state == "waiting")
                    scene.world.time.advance(seconds: 300)
                    try await worker.deliverDue()
                    #expect(try await scene.row(first).state == "waiting")
                    scene.world.time.advance(seconds: 300)
                    try await worker.deliverDue()
                    let row = try await scene.row(first)
                    #expect(row.state == "dead" && row.error == GoneReceiver.reason && row.hasPayload)
                    // Told and counted as what it is: given up, not to be tried again.
                    let last = scene.logs.entries.last { $0.contains("message=\(first)") }
                    #expect(last?.hasSuffix("error=\(GoneReceiver.reason) message=\(first) retry_at=never") == true)
                    let counts = scene.counts.counts.filter { $0.kind == .callback && $0.count > 0 }
                    #expect(counts.map { "\($0.count) \($0.outcome)" } == ["2 failed", "1 abandoned"])
                    #expect(receiver.calls.count == 3)
                    #expect(try await scene.goneReceivers == [base + "/gone"])

                    // It is called no more; another place of the same client is.
                    let second = try await scene.enqueue(to: base + "/gone")
                    let elsewhere = try await scene.enqueue(to: base + "/here")
                    try await worker.deliverDue()
                    #expect(try await scene.row(second).state == "dead")
                    #expect(try await scene.row(second).error == GoneReceiver.reason)
                    #expect(try await scene.row(elsewhere).state == "delivered")
                    #expect(receiver.calls.map(\.line).filter { $0.contains("/gone") }.count == 3)

                    // A new name is not a new place to call.
                    try await scene.update(.init(name: try ClientName("ACME")))
                    #expect(try await scene.goneReceivers == [base + "/gone"])
                    try await scene.update(.init(callbackURIs: scene.shop.client.callbackURIs))
                    #expect(try await scene.goneReceivers.isEmpty)
                    for id in [first, second] {
                        let outcome = try await RetryMessage.retry(
                            id, by: scene.shop.client.actor, ports: scene.world.ports)
                        #expect(outcome == .queued)
                    }
                    try await worker.deliverDue()
                    #expect(try await scene.row(first).state == "delivered")
                    #expect(try await scene.row(second).state == "delivered")
                })
        }
    }

    @Test("A receiver that takes a callback in between is not gone, nor is one that says so for less than ten minutes")
    func notGone() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { [1, 5].contains($0) ? .status(204) : .status(410) },
                { receiver, base in
                    let worker = scene.worker()
                    // What it said before it took one does not count.
                    let first = try await scene.enqueue(to: base + "/hook")
                    try await worker.deliverDue()
                    scene.world.time.advance(seconds: 900)
                    try await worker.deliverDue()
                    #expect(try await scene.row(first).state == "delivered")
                    let second = try await scene.enqueue(to: base + "/hook")
                    for pause: Int64 in [300, 299, 3600] {
                        try await worker.deliverDue()
                        #expect(try await scene.row(second).error == "the receiver answered 410")
                        #expect(try await scene.goneReceivers.isEmpty)
                        scene.world.time.advance(seconds: pause)
                    }
                    try await worker.deliverDue()
                    #expect(try await scene.row(second).state == "delivered")
                    #expect(receiver.calls.count == 6)
                })
        }
    }
}

extension DeliveryScene {
    fileprivate func deliver(to base: String) async throws {
        let id = try await enqueue(to: base + "/hook")
        try await worker().deliverDue()
        #expect(try await row(id).state == "delivered")
    }

    fileprivate func update(_ changes: ClientChanges) async throws {
        let client = shop.client
        #expect(try await UpdateClient.update(client.id, changes, by: client.actor, ports: world.ports) != .notFound)
    }

    fileprivate var goneReceivers: [String] {
        get async throws {
            let client = shop.client.id
            return try await world.store.read { try $0.receivers.gone(of: client) }.map(\.description)
        }
    }
}
