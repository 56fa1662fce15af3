import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("OneWelcome: codes by text message", .timeLimit(.minutes(15)))
struct OneWelcomeTextTests {
    private static let path = "\(OneWelcomeScene.path)/user"
    private static let form = [
        ("user_id", "customer-1"), ("type", "sms"), ("phone_number", "+15055551234"),
        ("message", "Your verification code is: {code}\n\n@www.example.com #{code}"), ("callback_uri", "ignored"),
    ]

    /// A portal with the type `sms`, and `fallback`, which needs a PIN that the user does not have.
    private static func with(_ body: @escaping @Sendable (OneWelcomeScene) async throws -> Void) async throws {
        try await OneWelcomeScene.with { scene in
            let clients: JSONValue = [.string(scene.portal.clientID)]
            let administrator = scene.scene.administrator
            let sms: JSONValue = [
                "text_code": true, "clients": clients, "texts": ["en": "Sign in to ACME?"], "attempts": 2,
                "max_pending": 100, "max_asks": 100,
            ]
            _ = try await administrator.call(.PUT, "/v1/admin/types/sms", sms).success()
            let fallback: JSONValue = ["methods": ["pin"], "number_entry": false, "fallback": "sms"]
            _ = try await administrator.call(.PUT, "/v1/admin/types/fallback", fallback).success()
            try await body(scene)
        }
    }

    private static func enter(
        _ code: String, _ transaction: String, _ scene: OneWelcomeScene, user: String = "customer-1",
        by caller: Caller? = nil
    ) async throws -> Reply {
        try await scene.post(
            "\(path)/\(user)/sms", [("sms_code", code), ("transaction_id", transaction)], by: caller)
    }

    private static func other(than code: String) -> String { code == "000000" ? "000001" : "000000" }

    @Test("Sent in the server's own words, typed wrong, typed right, and over")
    func whole() async throws {
        try await Self.with { scene in
            let reply = try await scene.post(Self.path, Self.form).success()
            #expect(
                reply.object?.members.map(\.name) == ["transaction_id", "auth_method", "time_to_live", "challenge"],
                "\(reply)")
            #expect(reply["auth_method"] == "sms" && reply["time_to_live"] == 300_000)
            let transaction = try #require(reply["transaction_id"]?.string)
            let code = try await scene.textedCode()
            scene.server.watch.plant(number: code)
            let text = try await scene.server.send(.GET, "/dev/outbox").success()["messages"]?.array?.first?["text"]
            #expect(text?.string?.hasPrefix("Sign in to ACME? \(code) ") == true, "\(String(describing: text))")
            expectNumber(try await Self.enter(Self.other(than: code), transaction, scene), 404, 3003)
            expectNumber(try await Self.enter("12345", transaction, scene), 404, 3003)
            let right = try await Self.enter(code, transaction, scene).success()
            #expect(right == ["transaction_id": .string(transaction)])
            expectNumber(try await Self.enter(code, transaction, scene), 404, 3004)
            let result = try await scene.result(of: transaction).success()
            #expect(result["is_authenticated"] == true && result["authentication_method"] == "sms")
            #expect(result["callback_uri"] == nil && result["user_id"] == "customer-1")
        }
    }

    @Test("After the last wrong code the right one counts for nothing")
    func guesses() async throws {
        try await Self.with { scene in
            let reply = try await scene.post(Self.path, Self.form).success()
            let transaction = try #require(reply["transaction_id"]?.string)
            let code = try await scene.textedCode()
            for _ in 0..<2 { expectNumber(try await Self.enter(Self.other(than: code), transaction, scene), 404, 3003) }
            expectNumber(try await Self.enter(code, transaction, scene), 404, 3004)
            let result = try await scene.result(of: transaction).success()
            #expect(result["not_authenticated_reason"]?["reason"] == "invalid_answer")
        }
    }

    @Test("A code is for its transaction, its user and its client")
    func others() async throws {
        try await Self.with { scene in
            _ = try await scene.portal.makeUser("customer-2")
            let reply = try await scene.post(Self.path, Self.form).success()
            let transaction = try #require(reply["transaction_id"]?.string)
            let code = try await scene.textedCode()
            let pushed = try await scene.ask()
            let rival = try await scene.server.makeClient("Rival", ["vendors": ["onewelcome"]])
            for path in ["sms", "sms/resend"] {
                let form = [("sms_code", code), ("transaction_id", transaction)]
                for user in ["customer-2", "nobody"] {
                    expectNumber(try await scene.post("\(Self.path)/\(user)/\(path)", form), 404, 3005)
                }
                let own = "\(Self.path)/customer-1/\(path)"
                expectNumber(try await scene.post(own, form, by: rival), 404, 3004)
                for id in [pushed, "cf51a27a-df80-42ad-bdd7-936c476b2c87", "x"] {
                    expectNumber(try await scene.post(own, [("sms_code", code), ("transaction_id", id)]), 404, 3004)
                }
                expectNumber(try await scene.post(own, [("sms_code", code)]), 400, 1003)
            }
            expectNumber(
                try await scene.post("\(Self.path)/customer-1/sms", [("transaction_id", transaction)]), 400, 1003)
            // None of these was a guess.
            #expect(try await Self.enter(code, transaction, scene).status == 200)
        }
    }

    @Test("The right code twice at once is taken once")
    func twice() async throws {
        try await Self.with { scene in
            let reply = try await scene.post(Self.path, Self.form).success()
            let transaction = try #require(reply["transaction_id"]?.string)
            let code = try await scene.textedCode()
            async let one = Self.enter(code, transaction, scene)
            async let other = Self.enter(code, transaction, scene)
            #expect(try await [one.status, other.status].sorted() == [200, 404])
            #expect(try await scene.result(of: transaction).success()["is_authenticated"] == true)
        }
    }

    @Test("It is sent once: whoever wants another one begins anew")
    func resend() async throws {
        try await Self.with { scene in
            let reply = try await scene.post(Self.path, Self.form).success()
            let form = [("transaction_id", try #require(reply["transaction_id"]?.string))]
            expectNumber(try await scene.post("\(Self.path)/customer-1/sms/resend", form), 403, 3006)
        }
    }

    @Test("What cannot be sent has its number, and a telephone number gets five an hour")
    func refusals() async throws {
        try await Self.with { scene in
            for (changes, status, number) in [
                ([("phone_number", nil)], 400, 3001), ([("phone_number", "5055551234")], 400, 1003),
                ([("message", String(repeating: "x", count: 156))], 400, 1005), ([("user_id", nil)], 400, 1003),
                ([("user_id", "nobody")], 404, 1001),
            ] as [([(String, String?)], Int, Int64)] {
                expectNumber(
                    try await scene.post(Self.path, OneWelcomeScene.changed(Self.form, changes)), status, number)
            }
            // A plus sign that was not escaped arrives as a blank.
            let blank = OneWelcomeScene.changed(Self.form, [("phone_number", " 15055551234")])
            for _ in 0..<5 { #expect(try await scene.post(Self.path, blank).status == 200) }
            let refused = try await scene.post(Self.path, Self.form)
            expectNumber(refused, 429, 3002)
            #expect(refused.headers["retry-after"].flatMap { Int($0) } ?? 0 > 3000)
            let rival = try await scene.server.makeClient("Rival", ["vendors": ["onewelcome"]])
            expectNumber(try await scene.post(Self.path, Self.form, by: rival), 404, 4000)
        }
    }

    @Test("A push that no device can answer becomes a text message, where the type says so and no device is named")
    func fallback() async throws {
        try await Self.with { scene in
            let form = OneWelcomeScene.changed(
                scene.push, [("type", "fallback"), ("device_id", nil), ("phone_number", "+15055551234")])
            let reply = try await scene.post(Self.path, form).success()
            #expect(reply["auth_method"] == "sms" && reply["device"] == nil)
            let transaction = try #require(reply["transaction_id"]?.string)
            let code = try await scene.textedCode()
            #expect(try await Self.enter(code, transaction, scene).status == 200)
            expectNumber(try await scene.post(Self.path, form + [("device_id", scene.device)]), 404, 1001)
            expectNumber(
                try await scene.post(Self.path, OneWelcomeScene.changed(form, [("phone_number", nil)])), 404, 1001)
            _ = try await scene.phone.setPIN()
            #expect(try await scene.post(Self.path, form).success()["auth_method"] == "push")
        }
    }
}
