import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("A challenge type is a named policy a client may ask by")
struct TypeTests {
    private static func ask(_ user: String, _ more: JSONObject = JSONObject()) -> JSONValue {
        var body: JSONObject = ["user": .string(user), "type": "payment"]
        for member in more.members { body[member.name] = member.value }
        return .object(body)
    }

    @Test("What a type says in the user's language is shown and signed where a client says nothing itself")
    func texts() async throws {
        let type: JSONValue = ["texts": ["de": "Zahlung freigeben?", "en": "Approve the payment?"]]
        try await Scene.with(type: type) { scene in
            for (locale, text) in [("de-AT", "Zahlung freigeben?"), ("fr", "Approve the payment?")] {
                let body = Self.ask(scene.user, ["locale": .string(locale)])
                let asked = try await scene.shop.call(.POST, "/v1/challenges", body).success()
                let challenge = try await scene.phone.open(try #require(asked["id"]?.string))
                #expect(challenge.question.message.text == text)
            }
        }
    }

    @Test("A type that says nothing leaves it to the client, and nobody is asked without a question")
    func noText() async throws {
        try await Scene.with { scene in
            let reply = try await scene.shop.call(.POST, "/v1/challenges", Self.ask(scene.user))
            #expect(reply.status == 422)
            #expect(reply.json["code"] == "missing_member" && reply.json["pointer"] == "/message")
        }
    }

    @Test("A text that could deceive is refused with its place, and the type stays as it was")
    func deceptive() async throws {
        try await Scene.with { scene in
            let before = try await scene.administrator.call(.GET, "/v1/admin/types").success()
            let type: JSONValue = ["texts": ["en": "Pay?", "de": "Zahlen?\u{202E}"]]
            let reply = try await scene.administrator.call(.PUT, "/v1/admin/types/payment", type)
            #expect(reply.status == 422)
            #expect(reply.json["code"] == "text_refused" && reply.json["pointer"] == "/texts/de")
            #expect(reply.json["reason"] == "bidirectional_control")
            #expect(try await scene.administrator.call(.GET, "/v1/admin/types").success() == before)
        }
    }

    @Test("A type of one client is no type at all for another, neither to ask by nor among what a user can be asked by")
    func clients() async throws {
        try await Scene.with { scene in
            let other = try await scene.server.makeClient("Other")
            let theirs = try await other.makeUser("theirs")
            _ = try await TestPhone.enrolled(for: theirs, by: other, at: scene.server)
            let type: JSONValue = ["texts": ["en": "Pay?"], "clients": [.string(scene.shop.clientID)]]
            let set = try await scene.administrator.call(.PUT, "/v1/admin/types/payment", type).success()
            #expect(set["clients"] == [.string(scene.shop.clientID)])
            _ = try await scene.shop.call(.POST, "/v1/challenges", Self.ask(scene.user)).success()
            let reply = try await other.call(.POST, "/v1/challenges", Self.ask(theirs))
            #expect(reply.status == 404 && reply.json["code"] == "type_not_found")
            func types(_ caller: Caller, _ user: String) async throws -> [String] {
                let methods = try await caller.call(.GET, "/v1/users/\(user)/methods").success()
                return (methods["types"]?.array ?? []).compactMap { $0["type"]?.string }
            }
            #expect(try await types(scene.shop, scene.user) == ["confirm", "payment", "qr"])
            #expect(try await types(other, theirs) == ["confirm", "qr"])
        }
    }
}
