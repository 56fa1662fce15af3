import CountersignCore
import CountersignServer
import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("What one client may bring about, whoever it asks")
struct ClientLimitTests {
    private static func with(_ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"),
            settings: {
                $0.limits.codeAsks = 3
                $0.limits.texts = 2
            }
        ) { server in try await body(try await Scene.make(server)) }
    }

    @Test("Questions by a code count against their client, so that none fills the server; a repeat does not")
    func codeAsks() async throws {
        try await Self.with { scene in
            let body: JSONValue = ["type": "qr", "message": "Sign in?"]
            let key = [("Idempotency-Key", "once")]
            for _ in 0..<4 {
                #expect(try await scene.shop.call(.POST, "/v1/challenges", body, headers: key).status == 201)
            }
            for _ in 0..<2 { #expect(try await scene.shop.call(.POST, "/v1/challenges", body).status == 201) }
            let refused = try await scene.shop.call(.POST, "/v1/challenges", body)
            expectRefusal(refused, 429, "too_many_asks")
            #expect((1...60).contains(refused.json["retry_after"]?.integer ?? 0))
            // What asks devices, and who else asks, is not concerned.
            _ = try await scene.ask()
            let other = try await scene.server.makeClient("Other")
            #expect(try await other.call(.POST, "/v1/challenges", body).status == 201)
            scene.server.clock.advance(seconds: 61)
            #expect(try await scene.shop.call(.POST, "/v1/challenges", body).status == 201)
        }
    }

    @Test(
        "Codes by text message have a budget per client as well as per number, and go out for clients alone that the type names"
    )
    func texts() async throws {
        try await Self.with { scene in
            let other = try await scene.server.makeClient("Other")
            let stranger = try await scene.server.makeClient("Stranger")
            let named = JSONValue.array([.string(scene.shop.clientID), .string(other.clientID)])
            _ = try await scene.administrator.call(
                .PUT, "/v1/admin/types/sms", ["text_code": true, "clients": named]
            ).success()
            func send(_ number: Int, _ user: String, by client: Caller) async throws -> Reply {
                try await client.call(
                    .POST, "/v1/challenges",
                    [
                        "user": .string(user), "type": "sms", "message": "Sign in?",
                        "phone": .string("+1555123456\(number)"),
                    ])
            }
            for number in 0..<2 { #expect(try await send(number, scene.user, by: scene.shop).status == 201) }
            let refused = try await send(2, scene.user, by: scene.shop)
            expectRefusal(refused, 429, "too_many_texts")
            #expect(refused.json["retry_after"]?.integer ?? 0 > 3000)
            #expect(try await send(2, try await other.makeUser(), by: other).status == 201)
            expectRefusal(try await send(3, try await stranger.makeUser(), by: stranger), 404, "type_not_found")
        }
    }
}
