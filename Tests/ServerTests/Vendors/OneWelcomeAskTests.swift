import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("OneWelcome: a portal begins an authentication")
struct OneWelcomeAskTests {
    private static let path = "\(OneWelcomeScene.path)/user"

    @Test("A push: the reply as documented, and the phone shows message, secure message, data and from where it comes")
    func push() async throws {
        try await OneWelcomeScene.with { scene in
            let form = OneWelcomeScene.changed(
                scene.push,
                [
                    ("secure_message", "Pay EUR 10.00\r\nto ACME GmbH?"), ("signing_data", "order 4711"),
                    ("language_code", "nl"), ("ip_address", "203.0.113.7"),
                    ("user_agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"), ("unknown", "is ignored"),
                ])
            let reply = try await scene.post(Self.path, form).success()
            #expect(
                reply.object?.members.map(\.name)
                    == ["transaction_id", "auth_method", "time_to_live", "device", "challenge"], "\(reply)")
            let transaction = try #require(reply["transaction_id"]?.string)
            #expect(transaction.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
            #expect(reply["auth_method"] == "push" && reply["time_to_live"] == 60_000)
            #expect(reply["device"] == ["name": "Test phone"])
            let challenge = try scene.challenge(transaction)
            #expect(reply["challenge"] == .string(challenge))
            let body = try await scene.phone.open(challenge)
            #expect(body.alert?.text == "Please authenticate for mine.acme.com")
            #expect(body.question.message.text == "Pay EUR 10.00\nto ACME GmbH?")
            #expect(body.question.signingData == "order 4711" && body.locale == "nl" && body.numberEntry == nil)
            #expect(body.question.context?.text == "Firefox on Linux, 203.0.113.7")
        }
    }

    @Test("Parameters that the type has no use for are ignored; what cannot be read of the browser refuses nothing")
    func ignored() async throws {
        try await OneWelcomeScene.with(type: ["signing_data": false]) { scene in
            let transaction = try await scene.ask([
                ("signing_data", "order 4711"), ("phone_number", "+15055551234"), ("ip_address", "not an address"),
                ("user_agent", String(repeating: "x", count: 2000)), ("app_id", "myApp"),
            ])
            let question = try await scene.phone.open(try scene.challenge(transaction)).question
            #expect(question.signingData == nil && question.context == nil)
        }
    }

    @Test("A user whom nobody knows, one without devices, and another's device are the same 1001")
    func noPossibility() async throws {
        try await OneWelcomeScene.with { scene in
            _ = try await scene.portal.makeUser("without-devices")
            let other = try await scene.portal.makeUser("customer-2")
            let phone = try await TestPhone.enrolled(for: other, by: scene.portal, at: scene.server)
            let replies = try await [
                scene.post(Self.path, OneWelcomeScene.changed(scene.push, [("user_id", "nobody")])),
                scene.post(Self.path, OneWelcomeScene.changed(scene.push, [("user_id", "without-devices")])),
                scene.post(Self.path, OneWelcomeScene.changed(scene.push, [("user_id", "two\nlines")])),
                scene.post(Self.path, OneWelcomeScene.changed(scene.push, [("device_id", "\(phone.enrollment)")])),
                scene.post(Self.path, OneWelcomeScene.changed(scene.push, [("device_id", "BECF05")])),
            ]
            for reply in replies {
                expectNumber(reply, 404, 1001)
                #expect(reply.json["error"] == "not_found" && reply.body == replies[0].body, "\(reply)")
            }
            // A user of the portal's without a name of its own is called by our id.
            let transaction = try await scene.ask([("user_id", scene.scene.user)])
            #expect(try await scene.result(of: transaction).success()["user_id"] == "customer-1")
        }
    }

    @Test("What is missing or wrong has its number, and nobody is asked")
    func refusals() async throws {
        try await OneWelcomeScene.with { scene in
            let long = String(repeating: "x", count: 156)
            let wrong: [([(String, String?)], Int, Int64)] = [
                ([("type", nil)], 400, 1003), ([("user_id", nil)], 400, 1003), ([("user_id", "")], 400, 1003),
                ([("device_id", nil)], 400, 1003), ([("callback_uri", nil)], 400, 1003),
                ([("callback_uri", "https://www.myportal.com/callback/")], 400, 1003),
                ([("callback_uri", "https://www.myportal.com/callback#onewelcome")], 400, 1003),
                ([("message", nil)], 400, 1003), ([("message", "a\u{202E}b")], 400, 1003),
                ([("message", long)], 400, 1005), ([("secure_message", "trailing \nblank")], 400, 1003),
                ([("secure_message", String(repeating: "x", count: 20_000))], 400, 1005),
                ([("signing_data", "\u{0}")], 400, 1003), ([("language_code", "not a language")], 400, 1003),
                ([("type", "nowhere")], 404, 4000), ([("type", "Push With PIN")], 404, 4000),
                ([("type", "otp")], 400, 1003),
            ]
            for (changes, status, number) in wrong {
                expectNumber(
                    try await scene.post(Self.path, OneWelcomeScene.changed(scene.push, changes)), status, number)
            }
            expectNumber(try await scene.post(Self.path, scene.push + [("message", "twice")]), 400, 1003)
            let json = try await scene.server.send(
                .POST, Self.path,
                headers: [("Authorization", scene.portal.authorization), ("Content-Type", "application/json")],
                body: Array("{}".utf8), isContract: false)
            expectNumber(json, 400, 1003)
            #expect(try await scene.scene.administrator.auditCount("challenge.asked") == 0)
        }
    }

    @Test("A type's own text stands where there is no message, in its language")
    func texts() async throws {
        try await OneWelcomeScene.with(type: ["texts": ["en": "Sign in?", "nl": "Inloggen?"]]) { scene in
            for (language, text) in [("nl", "Inloggen?"), ("fr", "Sign in?")] {
                let transaction = try await scene.ask([("message", nil), ("language_code", language)])
                let body = try await scene.phone.open(try scene.challenge(transaction))
                #expect(body.question.message.text == text)
            }
        }
    }

    @Test("Who asks too often, or was reported, is refused without another word about the user")
    func limits() async throws {
        try await OneWelcomeScene.with(type: ["max_pending": 1, "max_asks": 3]) { scene in
            let first = try await scene.ask()
            let pending = try await scene.post(Self.path, scene.push)
            expectNumber(pending, 429, 1001)
            #expect(pending.headers["retry-after"] == "1")
            _ = try await scene.phone.answer(try scene.challenge(first), .denied).success()
            for _ in 0..<2 {
                _ = try await scene.phone.answer(try scene.challenge(try await scene.ask()), .denied).success()
            }
            let often = try await scene.post(Self.path, scene.push)
            expectNumber(often, 429, 1001)
            #expect(often.headers["retry-after"].flatMap { Int($0) } ?? 0 > 3000)
            scene.server.clock.advance(seconds: 3601)
            _ = try await scene.phone.answer(try scene.challenge(try await scene.ask()), .reported).success()
            expectNumber(try await scene.post(Self.path, scene.push), 404, 1001)
        }
    }

    @Test("A type with number entry: the number stands in the reply, and the phone wants it")
    func number() async throws {
        try await OneWelcomeScene.with(type: ["number_entry": true]) { scene in
            let reply = try await scene.post(Self.path, scene.push).success()
            let number = try #require(reply["number"]?.string.flatMap { EntryNumber($0) })
            scene.server.watch.plant(number: number.digits)
            let transaction = try #require(reply["transaction_id"]?.string)
            let challenge = try scene.challenge(transaction)
            _ = try await scene.phone.answer(challenge, .approved(.confirm, number: number)).success()
            #expect(try await scene.result(of: transaction).success()["is_authenticated"] == true)
        }
    }

    @Test("A code: any phone scans what the portal shows, and the result says who it was")
    func code() async throws {
        try await OneWelcomeScene.with { scene in
            let form = [
                ("type", "otp"), ("callback_uri", OneWelcomeScene.callback), ("message", "Sign in to mine.acme.com?"),
            ]
            let reply = try await scene.post(Self.path, form).success()
            #expect(
                reply.object?.members.map(\.name)
                    == ["transaction_id", "auth_method", "time_to_live", "otp", "challenge"], "\(reply)")
            #expect(reply["auth_method"] == "otp" && reply["time_to_live"] == 60_000)
            let code = try #require(reply["otp"]?.string.flatMap { ChallengeCode($0) })
            let transaction = try #require(reply["transaction_id"]?.string)
            let challenge = try scene.challenge(transaction)
            #expect("\(code.challenge)" == challenge)
            let before = try await scene.result(of: transaction).success()
            #expect(before["user_id"] == nil && before["is_authenticated"] == false)
            #expect(try await scene.phone.send(.POST, "/v1/challenges/claim", code.claim).status == 204)
            _ = try await scene.phone.answer(challenge, .approved(.confirm, number: nil)).success()
            let result = try await scene.result(of: transaction).success()
            #expect(result["user_id"] == "customer-1" && result["is_authenticated"] == true)
            #expect(result["authentication_method"] == "otp")
        }
    }

    @Test("Version 3 names the client's app and no device: all that can answer are asked, and no place is shown")
    func version3() async throws {
        try await OneWelcomeScene.with { scene in
            let path = "/oauth/api/v3/authenticate"
            let form = OneWelcomeScene.changed(
                scene.push, [("device_id", nil), ("app_id", scene.portal.clientID), ("ip_address", "203.0.113.7")])
            let reply = try await scene.post("\(path)/user", form).success()
            #expect(reply["auth_method"] == "push" && reply["device"] == ["name": "Test phone"])
            let transaction = try #require(reply["transaction_id"]?.string)
            let challenge = try scene.challenge(transaction)
            #expect(try await scene.phone.open(challenge).question.context == nil)
            _ = try await scene.phone.answer(challenge, .approved(.confirm, number: nil)).success()
            let result = try await scene.call(.GET, "\(path)/transaction/\(transaction)").success()
            #expect(result["is_authenticated"] == true && result["authentication_method"] == "push")
            for (app, status, number) in [("myApp", 404, 1001), ("", 400, 1003)] as [(String, Int, Int64)] {
                let other = OneWelcomeScene.changed(form, [("app_id", app)])
                expectNumber(try await scene.post("\(path)/user", other), status, number)
            }
        }
    }
}
