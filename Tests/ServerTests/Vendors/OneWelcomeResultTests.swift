import CountersignWire
import Crypto
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import TestSupport
import Testing

@Suite("OneWelcome: a portal is called back and fetches the result")
struct OneWelcomeResultTests {
    /// The members that every result has.
    private static let always = ["callback_uri", "transaction_id", "timestamp", "user_id", "is_authenticated"]

    @Test("Approved: the result as documented, by the method that was used")
    func approved() async throws {
        try await OneWelcomeScene.with(type: ["methods": ["pin", "confirm"]]) { scene in
            let pin = try await scene.phone.setPIN()
            for (method, name) in [(AnswerMethod.confirm, "push"), (AnswerMethod.pin, "push_with_pin")] {
                let askedAt = scene.server.clock.now
                let transaction = try await scene.ask()
                let challenge = try scene.challenge(transaction)
                let question = try await scene.phone.open(challenge).question
                let text = scene.phone.receipt(of: question, .approved(method, number: nil)).text
                let message = try await scene.phone.seal(text, signedBy: method == .pin ? pin : nil)
                _ = try await scene.phone.answer(challenge, message: message).success()
                let result = try await scene.result(of: transaction).success()
                #expect(result.object?.members.map(\.name) == Self.always + ["authentication_method"], "\(result)")
                #expect(result["callback_uri"] == .string(OneWelcomeScene.callback))
                #expect(result["transaction_id"] == .string(transaction) && result["user_id"] == "customer-1")
                #expect(result["is_authenticated"] == true && result["authentication_method"] == .string(name))
                // Questions are dated to the second.
                let timestamp = try #require(result["timestamp"]?.integer)
                #expect(abs(timestamp - askedAt.milliseconds) <= 1000)
            }
        }
    }

    @Test("While nobody has answered, nobody is authenticated, and there is no reason")
    func pending() async throws {
        try await OneWelcomeScene.with { scene in
            let transaction = try await scene.ask()
            let result = try await scene.result(of: transaction).success()
            #expect(result.object?.members.map(\.name) == Self.always, "\(result)")
            #expect(result["is_authenticated"] == false)
            // A UUID may be written in upper case, too.
            #expect(try await scene.result(of: transaction.uppercased()).success() == result)
        }
    }

    @Test(
        "Every other end is not_accepted, invalid_answer, invalid_request or failed_to_send, and comes with a callback",
        arguments: ["denied", "reported", "expired", "cancelled", "device removed"])
    func reasons(_ end: String) async throws {
        let reasons = [
            "denied": "not_accepted", "reported": "not_accepted", "expired": "invalid_answer",
            "cancelled": "invalid_request", "device removed": "failed_to_send",
        ]
        try await CallbackReceiver.with { receiver in
            try await OneWelcomeScene.with(client: ["callback_uris": [.string(receiver.url)]]) { scene in
                var calls = receiver.calls.makeAsyncIterator()
                let transaction = try await scene.ask([("callback_uri", receiver.url)])
                let challenge = try scene.challenge(transaction)
                switch end {
                case "denied": _ = try await scene.phone.answer(challenge, .denied).success()
                case "reported": _ = try await scene.phone.answer(challenge, .reported).success()
                case "expired":
                    scene.server.clock.advance(seconds: 61)
                    _ = try await scene.result(of: transaction).success()
                case "cancelled":
                    let late = try await scene.sealed(.approved(.confirm, number: nil), for: transaction)
                    #expect(try await scene.portal.call(.DELETE, "/v1/challenges/\(challenge)").status == 200)
                    expectRefusal(try await scene.phone.answer(challenge, message: late), 409, "already_ended")
                default:
                    let path = "/oauth/api/v4/users/customer-1/devices/\(scene.device)"
                    #expect(try await scene.call(.DELETE, path).status == 204)
                }
                let call = try #require(await calls.next())
                #expect(
                    try JSONValue(parsing: call.body)
                        == ["callback_uri": .string(receiver.url), "transaction_id": .string(transaction)])
                let result = try await scene.result(of: transaction).success()
                #expect(
                    result.object?.members.map(\.name) == Self.always + ["not_authenticated_reason"], "\(result)")
                #expect(result["is_authenticated"] == false)
                #expect(result["not_authenticated_reason"]?["reason"]?.string == reasons[end])
                #expect(result["not_authenticated_reason"]?["description"]?.string?.isEmpty == false)
            }
        }
    }

    @Test("A callback has the password of the portal and our signature, and comes again until it is taken")
    func callback() async throws {
        let basic: JSONValue = ["username": "onegini", "password": "open sesame"]
        try await CallbackReceiver.with(answering: [500, 204]) { receiver in
            let client: JSONObject = ["callback_uris": [.string(receiver.url)], "callback_basic": basic]
            try await OneWelcomeScene.with(client: client) { scene in
                var calls = receiver.calls.makeAsyncIterator()
                let transaction = try await scene.ask([("callback_uri", receiver.url)])
                _ = try await scene.phone.answer(try scene.challenge(transaction), .denied).success()
                for _ in 0..<2 {
                    let call = try #require(await calls.next())
                    let body = try JSONValue(parsing: call.body)
                    #expect(body == ["callback_uri": .string(receiver.url), "transaction_id": .string(transaction)])
                    let expected = "Basic \(Base64.encode(Array("onegini:open sesame".utf8)))"
                    #expect(call.headers["authorization"] == expected)
                    let id = try #require(call.headers["webhook-id"])
                    let time = try #require(call.headers["webhook-timestamp"])
                    let key = SymmetricKey(
                        data: try #require(Base64.decode(scene.portal.callbackSecret.dropFirst("whsec_".count))))
                    let content = Array("\(id).\(time).".utf8) + call.body
                    let code = HMAC<SHA256>.authenticationCode(for: content, using: key)
                    #expect(call.headers["webhook-signature"] == "v1,\(Base64.encode(Array(code)))")
                    try await letItWait()
                    scene.server.clock.advance(seconds: 6)
                }
                // What our own calls ask is called back in our own form.
                let asked = try await scene.portal.ask(scene.scene.user, ["callback_uri": .string(receiver.url)])
                let id = try #require(asked["id"]?.string)
                _ = try await scene.phone.answer(id, .denied).success()
                let call = try #require(await calls.next())
                #expect(try JSONValue(parsing: call.body)["type"] == "challenge.denied")
            }
        }
    }

    @Test("What was signed is our receipt, which has the data, and verifies by the certificate")
    func signed() async throws {
        try await OneWelcomeScene.with { scene in
            let transaction = try await scene.ask([("signing_data", "order 4711")])
            let challenge = try scene.challenge(transaction)
            #expect(try await scene.result(of: transaction).success()["signature"] == nil)
            _ = try await scene.phone.answer(challenge, .approved(.confirm, number: nil)).success()
            let result = try await scene.result(of: transaction).success()
            let signature = try #require(result["signature"]?.string)
            let hash = Hex.encode(SHA256.hash(data: Array("order 4711".utf8)))
            #expect(result["signature_verified"] == true)
            #expect(signature.contains("signing-data: sha256:\(hash)"), "\(signature)")
            let path = "/v1/challenges/\(challenge)/receipt"
            let receipt = try await scene.portal.call(.GET, path)
            #expect(String(decoding: receipt.body, as: UTF8.self) == signature)
            let certificate = try Certificate(armored: try #require(result["user_public_key"]?.string))
            #expect(certificate.fingerprint == scene.phone.certificate.fingerprint)
        }
    }

    @Test("Another client's transaction is as unknown as one that never was")
    func others() async throws {
        try await OneWelcomeScene.with { scene in
            let transaction = try await scene.ask()
            let rival = try await scene.server.makeClient("Rival", ["vendors": ["onewelcome"]])
            let unknown = [
                try await scene.result(of: transaction, by: rival),
                try await scene.result(of: "cf51a27a-df80-42ad-bdd7-936c476b2c87"),
                try await scene.result(of: "cf51a27a"), try await scene.result(of: try scene.challenge(transaction)),
            ]
            for reply in unknown {
                expectNumber(reply, 404, 3004)
                #expect(reply.body == unknown[0].body)
            }
            #expect(try await scene.result(of: transaction).status == 200)
        }
    }

    @Test("Two answers at once: one decides, and the portal sees its end alone")
    func twoAtOnce() async throws {
        try await OneWelcomeScene.with { scene in
            for _ in 0..<5 {
                let transaction = try await scene.ask()
                let challenge = try scene.challenge(transaction)
                let messages = [
                    try await scene.sealed(.approved(.confirm, number: nil), for: transaction),
                    try await scene.sealed(.denied, for: transaction),
                ]
                async let yes = scene.phone.answer(challenge, message: messages[0])
                async let no = scene.phone.answer(challenge, message: messages[1])
                let statuses = try await [yes.status, no.status].sorted()
                #expect(statuses == [200, 409])
                let result = try await scene.result(of: transaction).success()
                let isApproved = try await scene.scene.state(of: challenge) == "approved"
                #expect(result["is_authenticated"] == .bool(isApproved))
                #expect((result["not_authenticated_reason"] == nil) == isApproved)
            }
        }
    }
}
