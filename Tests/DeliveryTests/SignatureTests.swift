import CountersignCore
import CountersignDelivery
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import Testing

@Suite("Standard Webhooks: who gets a callback can tell that it is ours")
struct SignatureTests {
    @Test("Standard Webhooks, Signature scheme: the specification's own example")
    func example() throws {
        let signature = try #require(WebhookSignature(secrets: [Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]))
        let headers = signature.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: 1_614_265_330, body: Array("{\"test\": 2432232314}".utf8))
        #expect(
            headers.map { "\($0.name): \($0.value)" } == [
                "webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330",
                "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            ])
    }

    @Test(
        "Standard Webhooks, Signature scheme: what is no whsec_ secret signs nothing",
        arguments: [
            "", "whsec", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "WHSEC_MfKQ", "whsec_*", "whsec_MfKQ9",
            "whsek_MfKQ",
        ])
    func secrets(_ secret: String) {
        #expect(WebhookSignature(secrets: [Secret(secret)]) == nil)
        let good = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        #expect(WebhookSignature(secrets: [good, Secret(secret)]) == nil)
    }

    @Test("Standard Webhooks: what arrives carries the three fields, signed by the decoded secret over what came")
    func onTheWire() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .status(204) },
                { receiver, base in
                    let body = "{\"type\":\"challenge.approved\",\"challenge\":{\"client_state\":\"é\u{1F600} . \\n\"}}"
                    let id = try await scene.enqueue(body, to: base + "/hook?a=b%20c&d=")
                    try await scene.worker().deliverDue()
                    let call = try #require(receiver.calls.first)
                    #expect(receiver.calls.count == 1)
                    #expect(call.line == "POST /hook?a=b%20c&d= HTTP/1.1")
                    #expect(call.body == Array(body.utf8))
                    #expect(call.fields["content-type"] == "application/json")
                    #expect(call.fields["webhook-id"] == "\(id)")
                    #expect(call.fields["webhook-timestamp"] == "\(scene.world.time.now.seconds)")
                    #expect(call.fields["authorization"] == nil)
                    // As a receiver checks it, with nothing of ours but the secret.
                    let secret = try #require(
                        Base64.decode(scene.shop.callbackSecret.reveal().dropFirst("whsec_".count)))
                    #expect(secret.count == 32)
                    let signed = Array("\(id).\(scene.world.time.now.seconds).".utf8) + call.body
                    let parts = try #require(call.fields["webhook-signature"]).split(separator: ",").map(String.init)
                    #expect(parts.count == 2 && parts[0] == "v1")
                    let code = try #require(Base64.decode(parts[1]))
                    let key = SymmetricKey(data: secret)
                    #expect(HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: key))
                    #expect(!HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed + [0], using: key))
                })
        }
    }
}
