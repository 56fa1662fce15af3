import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import Foundation
import NIOCore
import StorageTestSupport
import TestSupport
import Testing

@Suite("A gateway described by a template, and Twilio's", .timeLimit(.minutes(15)))
struct TextTests {
    private static let token = "marker-of-a-token"
    private static let number = "+15551234567"
    private static let sender = "A \"B\" & Ü"
    private static let text =
        "004711 is your code for A \"B\" & Ü, good for 10 minutes. Tell it to nobody.\n\n@login.example.com #004711"

    private static func described(
        _ base: String, format: TextGateway.Format = .json, body: String? = nil, success: String? = nil
    ) throws -> TextGateway {
        let usual = #"{"to": "{{to}}", "from": "{{from}}", "text": "{{text}}"}"#
        return try TextGateway(
            url: base + "/send", headers: [("Authorization", Secret("Bearer \(token)"))], format: format,
            body: body ?? usual, from: "ACME", success: success)
    }

    /// Runs something with an outbox whose text messages go to a gateway; no log may hold the number or the token.
    private func with(
        _ gateway: (String) throws -> TextGateway, answering answer: @escaping @Sendable (Int) -> Receiver.Reply,
        within timeout: TimeAmount = .seconds(15), _ body: (DeliveryScene, Receiver) async throws -> Void
    ) async throws {
        try await Receiver.with(answer) { receiver, base in
            try await DeliveryScene.with { scene in
                var scene = scene
                let client = PushSender.makeClient()
                let issuer = try #require(Issuer("https://login.example.com"))
                let templates = try MessageTemplates(sender: Self.sender, issuer: issuer)
                let sender = TextSender(try gateway(base), client: client, timeout: timeout)
                scene.messages = MessageSender(templates: templates, mail: nil, text: .gateway(sender))
                let result: Result<Void, any Error>
                do { result = .success(try await body(scene, receiver)) } catch { result = .failure(error) }
                try await client.shutdown()
                let search = SecretSearch([
                    SecretForms("the gateway's token", text: Self.token), SecretForms("a number", text: Self.number),
                ])
                #expect(search.names(in: scene.logs.entries.joined(separator: "\n")).isEmpty)
                try result.get()
            }
        }
    }

    private func deliver(by scene: DeliveryScene) async throws -> DeliveryScene.Row {
        let world = scene.world
        let queued = OutboxMessage(
            id: world.newID(),
            content: .personal(
                .code(EntryNumber(value: 4711), minutes: 10, in: nil),
                to: .phone(try #require(PhoneNumber(Self.number))), client: scene.shop.client.id),
            dueAt: world.time.now, expiresAt: world.time.now.adding(seconds: 600))
        try await world.store.commit { try $0.outbox.enqueue(queued) }
        try await scene.worker().deliverDue()
        return try await scene.row(queued.id)
    }

    @Test("A gateway is called as its template says; what is put in is escaped for JSON")
    func json() async throws {
        try await with({ try Self.described($0) }, answering: { _ in .status(200) }) { scene, receiver in
            #expect(try await deliver(by: scene).state == "delivered")
            let call = try #require(receiver.calls.first)
            #expect(call.line == "POST /send HTTP/1.1")
            #expect(call.fields["authorization"] == "Bearer \(Self.token)")
            #expect(call.fields["content-type"] == "application/json")
            let body = try JSONValue(parsing: call.body)
            #expect(body == ["to": .string(Self.number), "from": "ACME", "text": .string(Self.text)])
        }
    }

    @Test("Twilio's form: the account's messages, by its SID and token, from a number or a messaging service")
    func twilio() async throws {
        for (from, name) in [("+15550000000", "From"), ("MG0123456789abcdef", "MessagingServiceSid")] {
            try await with(
                { try .twilio(account: "AC01", token: Secret(Self.token), from: from, url: $0) },
                answering: { _ in .status(201) }
            ) { scene, receiver in
                #expect(try await deliver(by: scene).state == "delivered")
                let call = try #require(receiver.calls.first)
                #expect(call.line == "POST /2010-04-01/Accounts/AC01/Messages.json HTTP/1.1")
                #expect(call.fields["content-type"] == "application/x-www-form-urlencoded")
                #expect(call.fields["authorization"] == "Basic \(Base64.encode(Array("AC01:\(Self.token)".utf8)))")
                let pairs = String(decoding: call.body, as: UTF8.self).split(separator: "&").map { pair in
                    pair.split(separator: "=").map { String($0).removingPercentEncoding ?? "" }
                }
                #expect(pairs == [["To", Self.number], [name, from], ["Body", Self.text]])
            }
        }
    }

    @Test(
        "400 and 422 are for good; everything else is for a while, not before the gateway said; its words are not repeated"
    )
    func refusals() async throws {
        for (reply, state, error) in [
            (
                Self.reply(400, #"{"code": 21211, "message": "\#(Self.number) is no number"}"#), "dead",
                "400, code 21211"
            ),
            (Self.reply(422, "no"), "dead", "422"), (Self.reply(401, "who?"), "waiting", "401"),
            (Self.reply(500, #"{"code": "x"}"#), "waiting", "500"),
            (Self.reply(302, "", "location: /other"), "waiting", "302"),
        ] as [(Receiver.Reply, String, String)] {
            try await with({ try Self.described($0) }, answering: { _ in reply }) { scene, receiver in
                let row = try await deliver(by: scene)
                #expect(row.state == state && row.error == "the gateway answered \(error)", "\(row)")
                #expect(receiver.calls.count == 1)
            }
        }
        try await with(
            { try Self.described($0) }, answering: { _ in Self.reply(429, "", "retry-after: 90") }
        ) { scene, _ in
            let row = try await deliver(by: scene)
            #expect(row.dueAt == scene.world.time.now.adding(seconds: 90))
        }
    }

    @Test("A gateway whose reply comes byte by byte is given up in time")
    func dripping() async throws {
        try await with(
            { try Self.described($0) }, answering: { _ in .dripping("accepted, thanks") }, within: .seconds(1)
        ) { scene, receiver in
            let row = try await deliver(by: scene)
            #expect(row.state == "waiting" && row.error == "the gateway: Deadline exceeded", "\(row)")
            #expect(receiver.calls.count == 1)
        }
    }

    @Test("Where success is said in words, a reply of 200 without them is none")
    func success() async throws {
        for (text, state) in [(#"{"status":"queued"}"#, "delivered"), (#"{"status":"error","code":7}"#, "waiting")] {
            try await with(
                { try Self.described($0, success: #""status":"queued""#) }, answering: { _ in Self.reply(200, text) }
            ) { scene, _ in
                let row = try await deliver(by: scene)
                #expect(row.state == state)
                let error = "the gateway answered 200 without the words of success, code 7"
                #expect(row.error == (state == "waiting" ? error : nil))
            }
        }
    }

    @Test("A gateway that cannot be called as described is refused at the start, and says why")
    func descriptions() throws {
        func expectRefusal(_ words: String, _ make: () throws -> TextGateway) {
            let error = #expect(throws: TextGateway.Refusal.self) { _ = try make() }
            #expect(error?.description == words)
        }
        let url = "the gateway's URL must be https, or http to this machine, without a name in it"
        for base in [
            "http://gateway.example.com", "ftp://gateway.example.com", "gateway", "https://a:b@gateway.example.com",
        ] {
            expectRefusal(url) { try Self.described(base) }
        }
        _ = try Self.described("https://gateway.example.com")
        let missing = "the gateway's body must hold {{to}} and {{text}}"
        expectRefusal(missing) { try Self.described("https://g.example", body: #"{"to": "{{to}}"}"#) }
        expectRefusal(missing) { try Self.described("https://g.example", body: #"{"text": "{{text}}"}"#) }
        expectRefusal("the gateway's body is not JSON; {{to}}, {{from}} and {{text}} stand inside quotation marks") {
            try Self.described("https://g.example", body: #"{"to": {{to}}, "text": {{text}}}"#)
        }
        expectRefusal("the gateway's body is no Mustache template") {
            try Self.described("https://g.example", body: "{{to}} {{text}} {{#a}}")
        }
        _ = try Self.described("https://g.example", format: .form, body: "to={{to}}&text={{text}}")
    }

    private static func reply(_ status: Int, _ body: String, _ fields: String...) -> Receiver.Reply {
        let head = ["HTTP/1.1 \(status) X", "content-length: \(body.utf8.count)", "connection: close"] + fields
        return .bytes(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
    }
}
