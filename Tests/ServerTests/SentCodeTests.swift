import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Codes by text message, POST /v1/challenges/{challenge}/code", .timeLimit(.minutes(15)))
struct SentCodeTests {
    private static let phone: JSONValue = "+15551234567"

    private static func ask(_ scene: DeviceScene, _ members: JSONObject = [:]) async throws -> Reply {
        var body: JSONObject = [
            "user": .string(scene.user), "type": "sms", "message": "Sign in to ACME?", "phone": phone,
        ]
        for member in members.members { body[member.name] = member.value }
        return try await scene.shop.call(.POST, "/v1/challenges", .object(body))
    }

    private static func with(_ body: @escaping @Sendable (DeviceScene) async throws -> Void) async throws {
        try await DeviceScene.with { scene in
            let administrator = scene.server.administrator
            expectRefusal(
                try await administrator.call(.PUT, "/v1/admin/types/sms", ["text_code": true]), 422, "missing_member",
                at: "/clients")
            let type = try await administrator.call(
                .PUT, "/v1/admin/types/sms", ["text_code": true, "clients": [.string(scene.shop.clientID)]]
            ).success()
            #expect(type["text_code"] == true && type["methods"] == [] && type["assurance"] == "event")
            try await body(scene)
        }
    }

    /// The code in the last text message, as soon as there is one.
    private static func code(_ scene: DeviceScene) async throws -> String {
        while true {
            let shown = try await scene.server.send(.GET, "/dev/outbox").success()["messages"]?.array ?? []
            if let text = shown.first?["text"]?.string {
                let code = try #require(text.firstMatch(of: /[0-9]{6}/)).output
                #expect(
                    text
                        == "Sign in to ACME? \(code) is your code for ACME Shop, good for 5 minutes. Tell it to nobody."
                )
                scene.server.watch.plant(number: String(code))
                return String(code)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test("Asked, sent, typed wrong, typed right; the client is told how it was approved and never the code")
    func whole() async throws {
        try await Self.with { scene in
            let asked = try await Self.ask(scene).success()
            #expect(asked["methods"] == ["text_code"] && asked["number"] == nil && asked["enrollments"] == [])
            let path = "/v1/challenges/\(try #require(asked["id"]?.string))"
            let code = try await Self.code(scene)
            let other = code == "000000" ? "000001" : "000000"
            let wrong = try await scene.shop.call(.POST, "\(path)/code", ["code": .string(other)])
            expectRefusal(wrong, 422, "code_incorrect")
            #expect(wrong.json["attempts_left"] == 2)
            let approved = try await scene.shop.call(.POST, "\(path)/code", ["code": .string(code)]).success()
            #expect(approved["state"] == "approved" && approved["method"] == "text_code")
            let again = try await scene.shop.call(.POST, "\(path)/code", ["code": .string(code)])
            expectRefusal(again, 409, "already_ended")
            expectRefusal(try await scene.shop.call(.GET, "\(path)/receipt"), 404, "no_receipt")
            expectRefusal(try await scene.shop.call(.GET, "\(path)/code"), 404, "no_code")
        }
    }

    @Test("What cannot be sent says why, and a number gets five an hour")
    func refusals() async throws {
        try await Self.with { scene in
            expectRefusal(try await Self.ask(scene, ["phone": .null]), 422, "missing_member", at: "/phone")
            for phone in ["5551234567", "+1", "+1 555 123 4567", ""] {
                expectRefusal(try await Self.ask(scene, ["phone": .string(phone)]), 422, "invalid_member", at: "/phone")
            }
            expectRefusal(
                try await Self.ask(scene, ["type": "payment"]), 422, "not_allowed_by_type", at: "/phone")
            let asked = try await Self.ask(scene).success()
            let path = "/v1/challenges/\(try #require(asked["id"]?.string))/code"
            for (body, name, pointer) in [
                ([:], "missing_member", "/code"), (["code": "12345"], "invalid_member", "/code"),
                (["code": 123_456], "invalid_member", "/code"),
                (["code": "123456", "user": "x"], "unknown_member", "/user"),
            ] as [(JSONValue, String, String)] {
                expectRefusal(try await scene.shop.call(.POST, path, body), 422, name, at: pointer)
            }
            let elsewhere = try await scene.server.makeClient("Elsewhere")
            expectRefusal(
                try await elsewhere.call(.POST, path, ["code": "123456"]), 404, "challenge_not_found")
            let pushed = try await scene.ask()
            expectRefusal(try await scene.shop.call(.POST, "\(pushed.path)/code", ["code": "123456"]), 404, "no_code")
            let administrator = scene.server.administrator
            _ = try await administrator.call(
                .PUT, "/v1/admin/types/often",
                [
                    "text_code": true, "max_pending": 100, "max_asks": 100, "clients": [.string(scene.shop.clientID)],
                ]
            ).success()
            for _ in 0..<4 { #expect(try await Self.ask(scene, ["type": "often"]).status == 201) }
            let refused = try await Self.ask(scene, ["type": "often"])
            expectRefusal(refused, 429, "too_many_texts")
            #expect(refused.json["retry_after"]?.integer ?? 0 > 3000)
        }
    }
}
